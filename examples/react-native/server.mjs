/**
 * Replace this program with your server. It returns the keys of all users except the first, who owns the phone. With
 * --swap, it returns a false key for the first contact. For the screens of accounts, it creates a user with the account
 * id that the app sends, and returns a refresh token for this user. Your server must first sign the person in, and
 * store which account is theirs.
 */
import { PartnerClient } from "@keyroot/client/partner";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const { SERVICE_URL: serviceUrl, BIZ_ID: bizID, SERVER_TOKEN: serverToken, PORT = "8552" } = process.env;
const [file, attack] = process.argv.slice(2);
const [me, ...others] = readFileSync(file, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
const contacts = others.map(({ userID, pubKey }, i) => ({ name: `Contact ${i + 1}`, userID, publicKey: pubKey }));
if (attack === "--swap") contacts[0].publicKey = me.pubKey;

async function openSession(userID) {
  const partner = new PartnerClient({ serviceUrl, bizID, serverToken });
  await partner.createUser(userID, "us-west-2");
  const refreshToken = await partner.createUserRefreshToken(userID, "a phone");
  return { serviceUrl, bizID, refreshToken };
}

const server = createServer(async (request, response) => {
  response.setHeader("Content-Type", "application/json");
  try {
    const { pathname, searchParams } = new URL(request.url, "http://localhost");
    response.end(JSON.stringify(pathname === "/session" ? await openSession(searchParams.get("user")) : contacts));
  } catch (error) {
    response.writeHead(500).end(JSON.stringify({ message: String(error) }));
  }
});
server.on("error", (error) => {
  if (error.code !== "EADDRINUSE") throw error;
  console.error(`Port ${PORT} is in use. Set another one in the variable PORT and in serverUrl of config.js.`);
  process.exitCode = 1;
});
server.listen(Number(PORT), "127.0.0.1", () =>
  console.log(`The server runs on port ${server.address().port} until Ctrl-C.`),
);
