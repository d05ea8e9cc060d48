/** The options of `transfer-ownership` and `accept-ownership`. */
import { flag } from "./defineCommand.ts";
import { REGISTRY, transaction } from "./options.ts";

export const ownershipOptions = {
  callOnly: flag("Print the call instead of sending it, so that you can send it with a Safe or another wallet", {
    excludes: Object.keys(transaction),
  }),
  ...transaction,
};

export function ownershipNeeds({ callOnly }: Readonly<Record<string, unknown>>): string[] {
  return [...REGISTRY, "chainId", ...(callOnly === true ? [] : ["maxFee"])];
}
