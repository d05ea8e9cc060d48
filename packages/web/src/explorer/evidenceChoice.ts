import { config, endpoints } from "./config.ts";
import type { Options } from "./messages.ts";

/** The evidence that the visitor requires. */
export interface EvidenceChoice {
  anchor: "endpoint" | "quorum" | "pinned";
  /** For all but a quorum. */
  endpoint: string;
  /** How many endpoints must agree. */
  quorum: number;
  blockHash: string;
  storageProof: boolean;
}

export function defaultChoice(): EvidenceChoice {
  const all = endpoints();
  const quorum = Math.floor(all.length / 2) + 1;
  return { anchor: "endpoint", endpoint: all[0] ?? "", quorum, blockHash: "", storageProof: false };
}

/** The options of a verification with this evidence. */
export function optionsFor({ anchor, endpoint, quorum, blockHash, storageProof }: EvidenceChoice): Options {
  const { chainId, contract, merkleUrl, codeHash, usersSlot, allowHttp } = config;
  return {
    ...{ rpc: anchor === "quorum" ? endpoints() : endpoint, chainId, contract, merkleUrl, storageProof },
    ...(codeHash !== undefined && { codeHash }),
    ...(allowHttp === true && { allowHttp }),
    ...(usersSlot !== undefined && { usersSlot }),
    ...(anchor === "quorum" && { quorum }),
    ...(anchor === "pinned" && { blockHash }),
  };
}

/** The worker that can verify with these options. */
export function workerFor({ quorum, blockHash, storageProof, codeHash }: Options): "basic" | "evidence" {
  const isBasic = quorum === undefined && blockHash === undefined && codeHash === undefined && storageProof !== true;
  return isBasic ? "basic" : "evidence";
}
