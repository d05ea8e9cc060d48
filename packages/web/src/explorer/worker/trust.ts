import { endpoints, oneEndpoint, pinnedBlock, type Trust } from "keyroot";
import type { TrustChoice } from "./messages.ts";

/**
 * Makes the verifier's `trust` option from a choice in a message. Only the workers that verify signed blocks have the
 * code for the other choices.
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
