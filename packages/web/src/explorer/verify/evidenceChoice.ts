import { config, endpoints } from "../shared/config.ts";
import type { Options } from "../worker/messages.ts";
import { type EvidenceChoice, sourceNamed, SOURCES } from "./sources.ts";

/** The default choice of evidence: the strongest source that needs no input from the visitor. */
export function defaultChoice(): EvidenceChoice {
  const all = endpoints();
  const quorum = Math.floor(all.length / 2) + 1;
  const strongest = SOURCES.findLast(({ isPossible, needsInput }) => isPossible(all.length) && needsInput !== true);
  return { anchor: strongest?.name ?? "endpoint", endpoint: all[0] ?? "", quorum, pinned: "", storageProof: false };
}

export function optionsFor(choice: EvidenceChoice): Options {
  const { chainId, contract, merkleUrl, codeHash, usersSlot, allowHttp } = config;
  const { anchor, storageProof } = choice;
  return {
    ...{ rpc: choice.endpoint, chainId, contract, merkleUrl, storageProof },
    ...(codeHash !== undefined && { codeHash }),
    ...(allowHttp === true && { allowHttp }),
    ...(usersSlot !== undefined && { usersSlot }),
    ...sourceNamed(anchor).optionsOf(choice, endpoints()),
  };
}

export function workerFor(options: Options): "basic" | "evidence" | "signedBlock" {
  if (options.auditors || options.beacon) return "signedBlock";
  const { quorum, pinned, storageProof, codeHash } = options;
  const isBasic = quorum === undefined && pinned === undefined && codeHash === undefined && storageProof !== true;
  return isBasic ? "basic" : "evidence";
}
