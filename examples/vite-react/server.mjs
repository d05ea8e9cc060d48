/**
 * Replace this program with your server. It creates a user with the account id that the app sends, and returns a
 * refresh token for this user. Your server must first sign the person in, and store which account is theirs.
 */
import { PartnerClient } from "@keyroot/client/partner";
import { createServer } from "node:http";

const { SERVICE_URL: serviceUrl, BIZ_ID: bizID, SERVER_TOKEN: serverToken, PORT = "8552" } = process.env;
const partner = new PartnerClient({ serviceUrl, bizID, serverToken });

const server = createServer(async (request, response) => {
  response.setHeader("Access-Control-Allow-Origin", "*").setHeader("Content-Type", "application/json");
  try {
    const { searchParams } = new URL(request.url, "http://localhost");
    const userID = searchParams.get("user");
    await partner.createUser(userID, "us-west-2");
    const refreshToken = await partner.createUserRefreshToken(userID, "a web browser");
    response.end(JSON.stringify({ serviceUrl, bizID, refreshToken }));
  } catch (error) {
    response.writeHead(500).end(JSON.stringify({ message: String(error) }));
  }
});
server.on("error", (error) => {
  if (error.code !== "EADDRINUSE") throw error;
  console.error(`Port ${PORT} is in use. Set another one in the variable PORT and in sessionUrl of src/config.ts.`);
  process.exitCode = 1;
});
server.listen(Number(PORT), "127.0.0.1", () =>
  console.log(`The server runs on port ${server.address().port} until Ctrl-C.`),
);
