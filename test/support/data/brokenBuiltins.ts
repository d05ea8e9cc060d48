/* oxlint-disable no-console -- it prints its result */
import { ENDLESS_MS } from "../endless.ts";
import { makeMerkle } from "./merkleTreeGen.ts";

/** The script to run. */
export const SCRIPT = import.meta.filename;

/**
 * Verifies in a separate process, which first builds a tree with `merkle-tree-gen`, because that replaces methods of
 * Array. Prints the result of a quorum of 2 in which two members claim a higher block.
 */
if (import.meta.main) {
  makeMerkle(["a"]);
  if ([1].find((value) => value === 1) === 1) throw new Error("merkle-tree-gen does not replace Array.prototype.find.");
  const { ANY_KEY, createVerifier, endpoints } = await import("keyroot");
  const { userID, pubKey, quorum } = JSON.parse(process.argv[2] ?? "") as {
    userID: string;
    pubKey: string;
    quorum: { chainId: number; contract: string; merkleUrl: string; rpc: string[] };
  };
  const trust = endpoints({ required: 2 });
  const verifier = createVerifier({ ...quorum, trust, limits: { timeoutMs: 2 * ENDLESS_MS } });
  const { record } = await verifier.verify(userID, { expectedPublicKey: ANY_KEY });
  console.log(record.pubKey === pubKey ? "truth" : "lie");
}
