import { command, json } from "./defineCommand.ts";
import { chain, ownershipNeeds, ownershipOptions } from "./options.ts";

export const acceptOwnership = command(
  {
    summary: "Accept the ownership of a registry. The current owner must first run transfer-ownership",
    needs: ownershipNeeds,
    options: { ...ownershipOptions, ...chain, json },
  },
  async (args, host) => {
    const { acceptOwnershipCall } = await import("../publisher/ownership.ts");
    const { connect, sendOwnershipCall } = await import("./ownership.ts");
    const connected = await connect(args, host);
    const call = await acceptOwnershipCall(connected.registry);
    return sendOwnershipCall(call, `${call.from} is now the owner of the registry.`, connected, args, host);
  },
);
