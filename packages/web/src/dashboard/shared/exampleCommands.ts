/** Returns the URL of an operation of this service. */
function operation(path: string): string {
  return new URL(`../v1/${path}`, new URL(".", location.href)).href;
}

const JSON_TYPE = "-H 'Content-Type: application/json'";

/**
 * Returns a command that exchanges a server token. The command reads the token from a variable, so that the shell's
 * history does not contain the token.
 */
export function exchangeCommand(bizID: string): string {
  return `curl ${operation("public/auth/jwt")} ${JSON_TYPE} -d "{\\"biz_id\\":\\"${bizID}\\",\\"token\\":\\"$TOKEN\\"}"`;
}

/**
 * Returns commands that get an access token and then send a request with the access token.
 * @param body JSON for the shell's double quotes
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
