import { endpoints, oneEndpoint, pinnedBlock, type Trust } from "keyroot";
import type { TrustChoice } from "./messages.ts";

/**
 * Makes the verifier's `trust` option from a choice in a message. It throws for choices that need signed blocks,
 * because only the workers for signed blocks contain the code for them.
 */
export function simpleTrust(choice: TrustChoice): Trust {
  switch (choice.name) {
    case "one-endpoint":
      return oneEndpoint();
    case "endpoints":
      return endpoints({ required: choice.required });
    case "pinned-block":
      return pinnedBlock(choice.hash);
    default:
      throw new RangeError(`This worker has no source “${choice.name}”.`);
  }
}
