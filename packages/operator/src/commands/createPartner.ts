import { ArgumentError } from "keyroot/errors";
import { adminClientOf } from "./adminClient.ts";
import type { ArgsOf } from "./definitions.ts";
import type { Host, Outcome } from "./host.ts";
import { shellCommand } from "./shellCommand.ts";

/** `keyroot create-partner`: a partner company with its biz_id. */
export default async function createPartner(args: ArgsOf<"create-partner">, host: Host): Promise<Outcome> {
  const { name, service } = args;
  if (name === undefined) throw new ArgumentError("ARGUMENT_INVALID", "Set the company's name: --name NAME.");
  const admin = await adminClientOf(service, host);
  const { biz_id: bizId } = await admin.createPartner(name);
  const next = ["create-server-token", "--biz-id", bizId, ...(service === undefined ? [] : ["--service", service])];
  return {
    json: { bizId },
    text: `${bizId}\nTo create a token for its server: ${host.program} ${shellCommand(next)}`,
  };
}
