import type { Trust } from "keyroot";
import { auditors } from "keyroot/auditors";
import { lightClient } from "keyroot/light-client";
import { indexedDbStore } from "keyroot/store/indexeddb";
import type { TrustChoice } from "./messages.ts";
import { simpleTrust } from "./trust.ts";

/** Stores the light client's state, so that a later visit continues from it. */
const store = indexedDbStore();

/** Makes the `trust` option from any choice, also from blocks that auditors or Ethereum's sync committee signed. */
export function signedTrust(choice: TrustChoice): Trust {
  if (choice.name === "light-client") return lightClient({ ...choice.settings, store });
  return choice.name === "auditors" ? auditors(choice.settings) : simpleTrust(choice);
}
