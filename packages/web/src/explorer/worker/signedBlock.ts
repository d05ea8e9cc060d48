/**
 * The worker for blocks that auditors or Ethereum's sync committee signed. The page loads this worker only if auditors
 * or a beacon endpoint are configured.
 */
import "keyroot/auditors";
import "keyroot/beacon";
import { indexedDbStore } from "keyroot/store/indexeddb";
import { serveCalls } from "./serveCalls.ts";
import { verify } from "./verify.ts";

/** Stores the light client's state, so that a later visit continues from it. */
const store = indexedDbStore();

serveCalls({
  verify: (args, report, signal) => {
    const { beacon } = args.options;
    const options = {
      ...args.options,
      ...(beacon && { beacon: { ...beacon, store } }),
    };
    return verify({ ...args, options }, report, signal);
  },
});
