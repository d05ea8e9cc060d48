import { ANSWER } from "keyroot/client";
import { ArgumentError } from "keyroot/errors";
import { command } from "./command.ts";
import { operatorOf } from "./operator.ts";

interface Args {
  name: string | undefined;
  service: string | undefined;
  json: boolean;
}

/** `keyroot create-partner`: a company with its biz_id. */
export default command(async ({ name, service }: Args, hre) => {
  if (name === undefined) throw new ArgumentError("ARGUMENT_INVALID", "Name the company with --name.");
  const post = await operatorOf(service, hre);
  const answer = ANSWER.fields("The answer", await post("partners/create", { name }), ["biz_id"]);
  const bizID = ANSWER.text("biz_id", answer.biz_id, /^[\w-]{1,64}$/);
  return {
    json: { bizId: bizID },
    text: `${bizID}\nA token for its server: npx hardhat keyroot create-server-token --biz-id ${bizID}`,
  };
});
