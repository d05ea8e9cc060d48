import { config, endpoints } from "../shared/config.ts";
import type { Options } from "../worker/messages.ts";
import { type EvidenceChoice, sourceNamed, SOURCES } from "./sources.ts";

/** The default choice of evidence: the strongest source that needs no input from the visitor. */
export function defaultChoice(): EvidenceChoice {
  const all = endpoints();
  const required = Math.floor(all.length / 2) + 1;
  const strongest = SOURCES.findLast(({ isPossible, needsInput }) => isPossible(all.length) && needsInput !== true);
  return { source: strongest?.name ?? "one-endpoint", endpoint: all[0] ?? "", required, hash: "" };
}

/** Applies the source that a link names, if the visitor can choose it without entering a value. */
export function linkedChoice(choice: EvidenceChoice, name: string): EvidenceChoice {
  const linked = SOURCES.find((source) => source.name === name && source.needsInput !== true);
  return linked?.isPossible(endpoints().length) === true ? { ...choice, source: linked.name } : choice;
}

/**
 * Returns the address of a user's page. It names the source of the block, unless this source needs a value such as a
 * URL.
 */
export function addressOf(userID: string, source: EvidenceChoice["source"]): string {
  return sourceNamed(source).needsInput === true ? `verify/${userID}` : `verify/${userID}/${source}`;
}

export function optionsFor(choice: EvidenceChoice): Options {
  const { chainId, contract, merkleUrl, codeHash, keyType, accounts, allowHttp } = config;
  return {
    ...{ rpc: choice.endpoint, chainId, contract, merkleUrl },
    ...(codeHash !== undefined && { codeHash }),
    ...(keyType !== undefined && { keyType }),
    ...(accounts === true && { accounts }),
    ...(allowHttp === true && { allowHttp }),
    ...sourceNamed(choice.source).optionsOf(choice, endpoints()),
  };
}

export function workerFor(options: Options): "basic" | "evidence" | "signedBlock" {
  const { trust, codeHash } = options;
  if (trust.name === "auditors" || trust.name === "light-client") return "signedBlock";
  return trust.name === "one-endpoint" && codeHash === undefined ? "basic" : "evidence";
}
