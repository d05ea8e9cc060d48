import { command, json, text } from "./defineCommand.ts";
import { chain, ownershipNeeds, ownershipOptions } from "./options.ts";

export const transferOwnership = command(
  {
    summary: "Offer the ownership of a registry to another account",
    needs: ownershipNeeds,
    options: {
      newOwner: text("address", "Account to which you offer the ownership", { required: true }),
      ...ownershipOptions,
      ...chain,
      json,
    },
  },
  async (args, host) => {
    const { checkAddress } = await import("./hexOptions.ts");
    const { fetchPendingOwner, transferOwnershipCall } = await import("../publisher/ownership.ts");
    const { connect, sendOwnershipCall } = await import("./ownership.ts");
    const newOwner = checkAddress("--new-owner", args.newOwner);
    const connected = await connect(args, host);
    const { registry, chainAndFiles } = connected;
    const call = transferOwnershipCall(registry, newOwner, chainAndFiles.chainId);
    const pending = await fetchPendingOwner(registry);
    if (pending?.toLowerCase() === newOwner.toLowerCase()) {
      const text = `The registry is already offered to ${pending}. This account becomes the owner with 'accept-ownership'.`;
      return { json: { owner: registry.owner, pendingOwner: pending }, text };
    }
    const done = `The registry is offered to ${newOwner}. This account becomes the owner with 'accept-ownership'. Until then, the owner is ${registry.owner}.`;
    return sendOwnershipCall(call, done, connected, args, host);
  },
);
