/** The worker for blocks that auditors or Ethereum's sync committee signed. The page loads it only if one of them is configured. */
import "keyroot/auditors";
import "keyroot/beacon";
import { indexedDbStore } from "keyroot/store/indexeddb";
import { serveCalls } from "./serveCalls.ts";
import { verify } from "./verify.ts";

/** Keeps the light client's state and the lists of auditors, so that a later visit continues there. */
const store = indexedDbStore();

serveCalls({
  verify: (args, report, signal) => {
    const { beacon, auditors } = args.options;
    const options = {
      ...args.options,
      ...(beacon && { beacon: { ...beacon, store } }),
      ...(auditors && { auditors: { ...auditors, store } }),
    };
    return verify({ ...args, options }, report, signal);
  },
});
