import { auditors } from "keyroot/auditors";
import { lightClient } from "keyroot/light-client";
import { indexedDbStore } from "keyroot/store/indexeddb";
import { simpleTrust } from "./trust.ts";
import { verifyWith } from "./verify.ts";

/** Stores the light client's state, so that a later visit continues from it. */
const store = indexedDbStore();

/** Verifies a user's key with any source, also with blocks that auditors or Ethereum's sync committee signed. */
export const verifySigned = verifyWith((choice) => {
  if (choice.name === "light-client") return lightClient({ ...choice.settings, store });
  return choice.name === "auditors" ? auditors(choice.settings) : simpleTrust(choice);
});
