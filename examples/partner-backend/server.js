import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { deriveUserID } from "keyroot/records";
import { KeyrootError, PartnerClient } from "@keyroot/client/partner";

const {
  SERVICE_URL: serviceUrl,
  BIZ_ID: bizID,
  SERVER_TOKEN: serverToken,
  USER_ID_SECRET,
  PORT = "8550",
} = process.env;
const partner = new PartnerClient({ serviceUrl, bizID, serverToken });
const secret = Buffer.from(USER_ID_SECRET ?? "", "hex");

/**
 * Creates a refresh token for an account's device. Creates the account's shadow user first if this user does not exist.
 */
async function addDevice({ account, device }) {
  // The same account always has the same user id. Nobody can guess the user id from the account.
  const userID = deriveUserID(secret, account);
  await partner.createUser(userID, "eu-west-1");
  return { bizID, userID, refreshToken: await partner.createUserRefreshToken(userID, device) };
}

const server = createServer(async (request, response) => {
  const reply = (status, body) => {
    response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
  };
  if (request.method !== "POST" || request.url !== "/devices")
    return reply(404, { error: "There is only POST /devices." });
  const body = await json(request).catch(() => undefined);
  if (typeof body?.account !== "string" || typeof body.device !== "string")
    return reply(400, { error: "Send JSON with account and device." });
  try {
    // Add your sign-in here. Take the account from the session instead of the request.
    reply(201, await addDevice(body));
  } catch (error) {
    const code = error instanceof KeyrootError ? error.code : "INTERNAL";
    if (code === "IDENTIFIER_INVALID") return reply(400, { error: code });
    console.error(error);
    reply(502, { error: code });
  }
});
server.listen(Number(PORT), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
