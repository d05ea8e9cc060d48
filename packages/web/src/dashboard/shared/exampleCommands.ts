/** Returns the URL of an operation of this service. */
function operation(path: string): string {
  return new URL(`../v1/${path}`, new URL(".", location.href)).href;
}

const JSON_TYPE = "-H 'Content-Type: application/json'";

/**
 * Returns a command that exchanges a server token for an access token. It reads the server token from a variable, so
 * that the token is not in the shell's history.
 */
export function exchangeCommand(bizID: string): string {
  return `curl ${operation("public/auth/jwt")} ${JSON_TYPE} -d "{\\"biz_id\\":\\"${bizID}\\",\\"token\\":\\"$TOKEN\\"}"`;
}

/**
 * Returns a command that makes the first request with a new token. It begins with a space, because most shells then
 * keep the command out of their history.
 */
export function firstRequestCommand(bizID: string, token: string): string {
  return ` TOKEN=${token}; ${exchangeCommand(bizID)}`;
}

/** Returns a program for Node that creates a user. The server token is in an environment variable. */
export function firstRequestProgram(bizID: string): string {
  return `// npm install keyroot @keyroot/client
import { PartnerClient } from "@keyroot/client/partner";
import { randomUserID } from "keyroot/records";

const partner = new PartnerClient({
  serviceUrl: "${new URL("..", new URL(".", location.href)).href.replace(/\/$/, "")}",
  bizID: "${bizID}",
  serverToken: process.env.KEYROOT_SERVER_TOKEN,
});
console.log(await partner.createUser(randomUserID(), "us-west-2"));`;
}

/** A server for Node that verifies webhooks. */
export const VERIFY_WEBHOOKS_IN_NODE = `// npm install standardwebhooks
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.KEYROOT_WEBHOOK_SECRET);
createServer(async (request, response) => {
  try {
    const event = webhook.verify(await text(request), request.headers);
    console.log(event.type, event.data);
    response.writeHead(204).end();
  } catch {
    response.writeHead(400).end();
  }
}).listen(8600);`;

/** A function for Python that verifies a webhook. */
export const VERIFY_WEBHOOKS_IN_PYTHON = `# pip install standardwebhooks
import os
from standardwebhooks import Webhook

webhook = Webhook(os.environ["KEYROOT_WEBHOOK_SECRET"])

def receive(body, headers):
    """Raises WebhookVerificationError unless this service sent the request."""
    event = webhook.verify(body, headers)
    print(event["type"], event["data"])`;

/**
 * Returns commands that get an access token and then send a request with it.
 * @param body JSON, escaped for double quotes in the shell
 */
function withAccessToken(bizID: string, path: string, body: string): string {
  const exchange = exchangeCommand(bizID).replace("curl ", "curl -s ");
  const request = `curl ${operation(`authdBizSrv/${path}`)} ${JSON_TYPE} -H "Authorization: Bearer $JWT"`;
  return [`JWT=$(${exchange} | cut -d '"' -f 4)`, `${request} -d "${body}"`].join("\n");
}

/** A command that creates a user with a random id. */
export function createUserCommand(bizID: string): string {
  return withAccessToken(
    bizID,
    "users/create",
    '{\\"user_id_hex\\":\\"$(openssl rand -hex 20)\\",\\"region\\":\\"us-west-2\\"}',
  );
}

/** A command that creates a user with a random id, and a refresh token for the user's app. */
export function createUserWithTokenCommand(bizID: string): string {
  return withAccessToken(
    bizID,
    "users/createMany",
    '{\\"users\\":[{\\"user_id_hex\\":\\"$(openssl rand -hex 20)\\",\\"region\\":\\"us-west-2\\",\\"context\\":\\"phone\\"}]}',
  );
}

export function createWebhookCommand(bizID: string): string {
  return withAccessToken(bizID, "webhooks/create", '{\\"url\\":\\"https://example.com/keyroot\\"}');
}

/** A command that creates a partner. The admin token is in an environment variable. */
export function createPartnerCommand(): string {
  return `curl ${operation("admin/partners/create")} ${JSON_TYPE} -H "Authorization: Bearer $ADMIN_TOKEN" -d '{"name":"Acme"}'`;
}
