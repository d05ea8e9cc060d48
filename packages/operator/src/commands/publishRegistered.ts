import { adminClientOf } from "./adminClient.ts";
import type { ArgsOf } from "./definitions.ts";
import type { Host, Outcome } from "./host.ts";
import { plural } from "../text/plural.ts";

/** `keyroot publish-registered`: makes a running service publish the keys that its users registered. */
export default async function publishRegistered(args: ArgsOf<"publish-registered">, host: Host): Promise<Outcome> {
  const admin = await adminClientOf(args.service, host);
  const batches = (await admin.publish()).map(({ root, users }) => ({ root, users }));
  const published = batches.reduce((sum, { users }) => sum + users, 0);
  const lines = batches.map(({ root, users }) => `${root}  ${plural(users, "user")}`);
  return { json: { published, batches }, text: [...lines, `Published ${plural(published, "key")}.`].join("\n") };
}
