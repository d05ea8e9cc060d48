import { command, json } from "./defineCommand.ts";
import { chain } from "./options.ts";
import { ownershipNeeds, ownershipOptions } from "./ownershipOptions.ts";

/**
 * `keyroot accept-ownership`: completes an ownership transfer. The account that the owner chose becomes the registry's
 * owner.
 */
export const acceptOwnership = command(
  {
    summary: "Accept the ownership of a registry. The current owner must first run transfer-ownership",
    needs: ownershipNeeds,
    options: { ...ownershipOptions, ...chain, json },
  },
  async (args, host) => {
    const { acceptOwnershipCall } = await import("../publisher/ownership.ts");
    const { connect, sendOwnershipCall } = await import("./ownership.ts");
    const { registry, chainAndFiles } = await connect(args, host);
    const call = await acceptOwnershipCall(registry);
    const done = `${call.from} is now the owner of the registry.`;
    return sendOwnershipCall({ call, registry, chainAndFiles, args, done }, host);
  },
);
