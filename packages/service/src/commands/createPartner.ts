import { ArgumentError } from "keyroot/errors";
import { adminClientOf } from "./adminClient.ts";
import type { ArgsOf } from "./help.ts";
import type { Host, Outcome } from "@keyroot/operator/commands";
import { shellCommand } from "@keyroot/operator/commands";

/** `keyroot create-partner`: a partner company with its biz_id. */
export default async function createPartner(args: ArgsOf<"create-partner">, host: Host): Promise<Outcome> {
  const { name, serviceUrl } = args;
  if (name === undefined) throw new ArgumentError("ARGUMENT_INVALID", "Set the company's name: --name NAME.");
  const admin = await adminClientOf(serviceUrl, host);
  const { biz_id: bizID } = await admin.createPartner(name);
  const next = [
    "create-server-token",
    "--biz-id",
    bizID,
    ...(serviceUrl === undefined ? [] : ["--service-url", serviceUrl]),
  ];
  return {
    json: { bizID },
    text: `${bizID}\nTo create a token for its server: ${host.program} ${shellCommand(next)}`,
  };
}
