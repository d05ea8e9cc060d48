/** The URL of an operation of this service. */
function operation(path: string): string {
  return new URL(`../v1/${path}`, new URL(".", location.href)).href;
}

const JSON_TYPE = "-H 'Content-Type: application/json'";

/** A call that exchanges a server token. The token comes from the environment, so that no history of commands has it. */
export function exchangeCommand(bizID: string): string {
  return `curl ${operation("public/auth/jwt")} ${JSON_TYPE} -d "{\\"biz_id\\":\\"${bizID}\\",\\"token\\":\\"$TOKEN\\"}"`;
}

/** Two calls that create a user with a random id: the first one gets an access token. */
export function createUserCommand(bizID: string): string {
  const exchange = exchangeCommand(bizID).replace("curl ", "curl -s ");
  const create = `curl ${operation("authdBizSrv/users/create")} ${JSON_TYPE} -H "Authorization: Bearer $JWT"`;
  return [
    `JWT=$(${exchange} | cut -d '"' -f 4)`,
    `${create} -d "{\\"user_id_hex\\":\\"$(openssl rand -hex 20)\\",\\"region\\":\\"us-west-2\\"}"`,
  ].join("\n");
}
