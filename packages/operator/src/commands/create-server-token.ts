import { ANSWER } from "keyroot/client";
import { ArgumentError } from "keyroot/errors";
import { command } from "./command.ts";
import { operatorOf } from "./operator.ts";

interface Args {
  bizId: string | undefined;
  name: string | undefined;
  service: string | undefined;
  json: boolean;
}

/** `keyroot create-server-token`: a refresh token for a partner's server, shown this once. */
export default command(async ({ bizId, name, service }: Args, hre) => {
  if (bizId === undefined) throw new ArgumentError("ARGUMENT_INVALID", "Name the partner with --biz-id.");
  const post = await operatorOf(service, hre);
  const body = { biz_id: bizId, ...(name !== undefined && { name }) };
  const answer = ANSWER.fields("The answer", await post("serverTokens/create", body), ["token"]);
  const serverToken = ANSWER.secret("token", answer.token, /^krs_[\w-]{43}$/);
  return {
    json: { bizId, serverToken },
    text: `${serverToken}\nIt never expires and is never shown again: keep it as a secret of the server.`,
  };
});
