import { command, json } from "@keyroot/operator/definition";
import { serviceUrl } from "./options.ts";

/**
 * The `keyroot publish-registered` command asks the publisher to publish the registered keys whose hold period is over.
 * It sends the request through a running service.
 */
export const publishRegistered = command(
  {
    summary: "Publish the registered keys whose hold period is over",
    needs: () => ["serviceUrl"],
    options: { serviceUrl, json },
  },
  async ({ serviceUrl }, host) => {
    const { adminClientOf } = await import("./adminCommands.ts");
    const { plural } = await import("@keyroot/operator/shared");
    const admin = await adminClientOf(serviceUrl, host);
    const batches = (await admin.publishRegistered()).map(({ root, users }) => ({ root, users }));
    const published = batches.reduce((sum, { users }) => sum + users, 0);
    const lines = batches.map(({ root, users }) => `${root}  ${plural(users, "user")}`);
    return { json: { published, batches }, text: [...lines, `Published ${plural(published, "key")}.`].join("\n") };
  },
);
