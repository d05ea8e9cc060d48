import { AdminClient } from "keyroot/admin";
import { ArgumentError } from "keyroot/errors";
import { readStackFile } from "../stack/stackFile.ts";
import type { Host } from "./host.ts";

/**
 * A client for the service that `--service` names, with its admin token from the environment, or for the local stack's.
 * @throws ArgumentError ARGUMENT_INVALID
 */
export async function adminClientOf(service: string | undefined, host: Host): Promise<AdminClient> {
  if (service === undefined) {
    const stack = await readStackFile(host.root);
    if (stack?.service !== undefined) return new AdminClient(stack.service);
    const message = "No local stack is running here. Start one with 'npx hardhat keyroot stack', or set --service.";
    throw new ArgumentError("ARGUMENT_INVALID", message);
  }
  const { KEYROOT_ADMIN_TOKEN: adminToken = "" } = process.env;
  if (adminToken !== "") return new AdminClient({ baseUrl: service, adminToken });
  const message = "Set the environment variable KEYROOT_ADMIN_TOKEN to the service's admin token.";
  throw new ArgumentError("ARGUMENT_INVALID", message);
}

/** @throws ArgumentError ARGUMENT_INVALID */
export function requireBizId(bizId: string | undefined): string {
  if (bizId !== undefined) return bizId;
  throw new ArgumentError("ARGUMENT_INVALID", "Set the partner's id: --biz-id ID.");
}
