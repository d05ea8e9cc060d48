import { adminClientOf } from "./adminClient.ts";
import type { ArgsOf } from "./help.ts";
import { describePartner } from "./describePartner.ts";
import type { Host } from "@keyroot/operator/commands";
import { print, printError } from "@keyroot/operator/commands";

/** `keyroot list-partners`: all partners, or those that a search finds, with their numbers. */
export default async function listPartners(args: ArgsOf<"list-partners">, host: Host): Promise<undefined> {
  const { search, serviceUrl, json } = args;
  const admin = await adminClientOf(serviceUrl, host);
  let listed = 0;
  for await (const partner of admin.listPartners({ search })) {
    print(json ? JSON.stringify(partner) : describePartner(partner));
    listed++;
  }
  if (listed === 0 && !json) printError("There is no such partner.");
}
