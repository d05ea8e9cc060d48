import { adminClientOf } from "./adminClient.ts";
import type { ArgsOf } from "./definitions.ts";
import { describePartner } from "./describePartner.ts";
import type { Host } from "./host.ts";
import { print, printError } from "./output.ts";

/** `keyroot list-partners`: all partners, or those that a search finds, with their numbers. */
export default async function listPartners(args: ArgsOf<"list-partners">, host: Host): Promise<undefined> {
  const { search, service, json } = args;
  const admin = await adminClientOf(service, host);
  let listed = 0;
  for await (const partner of admin.listPartners({ search })) {
    print(json ? JSON.stringify(partner) : describePartner(partner));
    listed++;
  }
  if (listed === 0 && !json) printError("There is no such partner.");
}
