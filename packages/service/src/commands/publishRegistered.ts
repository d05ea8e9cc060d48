import { adminClientOf } from "./adminClient.ts";
import type { ArgsOf } from "./commandDefinitions.ts";
import type { Host, Outcome } from "@keyroot/operator/commands";
import { plural } from "@keyroot/operator/shared";

/**
 * The `keyroot publish-registered` command makes a running service publish the registered keys. Keys in their hold
 * period are not published.
 */
export default async function publishRegistered(args: ArgsOf<"publish-registered">, host: Host): Promise<Outcome> {
  const admin = await adminClientOf(args.serviceUrl, host);
  const batches = (await admin.publishRegistered()).map(({ root, users }) => ({ root, users }));
  const published = batches.reduce((sum, { users }) => sum + users, 0);
  const lines = batches.map(({ root, users }) => `${root}  ${plural(users, "user")}`);
  return { json: { published, batches }, text: [...lines, `Published ${plural(published, "key")}.`].join("\n") };
}
