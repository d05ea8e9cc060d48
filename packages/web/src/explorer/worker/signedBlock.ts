/**
 * The worker for blocks that auditors or Ethereum's sync committee signed. The page loads this worker only if auditors
 * or a beacon endpoint are configured.
 */
import { auditors } from "keyroot/auditors";
import { lightClient } from "keyroot/light-client";
import { indexedDbStore } from "keyroot/store/indexeddb";
import { serveCalls } from "./serveCalls.ts";
import { simpleTrust } from "./trust.ts";
import { verifyWith } from "./verify.ts";

/** Stores the light client's state, so that a later visit continues from it. */
const store = indexedDbStore();

serveCalls({
  verify: verifyWith((choice) => {
    if (choice.name === "light-client") return lightClient({ ...choice.settings, store });
    return choice.name === "auditors" ? auditors(choice.settings) : simpleTrust(choice);
  }),
});
