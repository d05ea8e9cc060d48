import { AdminClient } from "@keyroot/client/operator";
import { readStackFile } from "@keyroot/operator/shared";
import type { Host } from "@keyroot/operator/commands";
import { ArgumentError } from "../errors.ts";

/**
 * Creates a client for the service at `--service-url`, with the admin token from the environment. Without the option,
 * the client calls the service of the local stack.
 * @throws ArgumentError ARGUMENT_INVALID
 */
export async function adminClientOf(serviceUrl: string | undefined, host: Host): Promise<AdminClient> {
  if (serviceUrl === undefined) {
    const stack = await readStackFile(host.root);
    if (stack?.service !== undefined) return new AdminClient(stack.service);
    const message = "No local stack is running here. Start one with 'npx hardhat keyroot stack', or set --service-url.";
    throw new ArgumentError("ARGUMENT_INVALID", message);
  }
  const { KEYROOT_ADMIN_TOKEN: adminToken = "" } = process.env;
  if (adminToken !== "") return new AdminClient({ serviceUrl, adminToken });
  const message = "KEYROOT_ADMIN_TOKEN is not set. Set it to the service's admin token.";
  throw new ArgumentError("ARGUMENT_INVALID", message);
}

/** @throws ArgumentError ARGUMENT_INVALID */
export function requireBizID(bizID: string | undefined): string {
  if (bizID !== undefined) return bizID;
  throw new ArgumentError("ARGUMENT_INVALID", "--biz-id is missing. Set it to the partner's id.");
}
