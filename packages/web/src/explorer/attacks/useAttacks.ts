import type { ExplorerAttack, ExplorerAttacks } from "@keyroot/operator/explorer";
import { useEffect, useState } from "preact/hooks";
import { callWorker } from "../shared/callWorker.ts";
import { defaultChoice, optionsFor } from "../verify/evidenceChoice.ts";
import type { Options } from "../worker/messages.ts";

/** The sources of the block with which attacks can be run, weakest first. */
export type AttackedSource = "one-endpoint" | "light-client";

/**
 * The state of an attack. At the end, the verifier has rejected the key (`rejected`), has accepted a false key
 * (`fooled`), or has found the true key in spite of the attack (`unaffected`).
 */
export type AttackState = "waiting" | "running" | "rejected" | "fooled" | "unaffected" | "failed";

export interface AttackResult {
  state: AttackState;
  /** The error code of a rejection or a failure. */
  code?: string | undefined;
  /** Time in ms. */
  duration?: number;
}

interface Run {
  id: string;
  results: Readonly<Record<string, AttackResult>>;
}

const NO_RUN: Run = { id: "", results: {} };

/**
 * Runs all attacks, one after the other, and again each time an argument changes.
 * @returns the results, by the attacks' names
 */
export function useAttacks(
  attacks: ExplorerAttacks,
  source: AttackedSource,
  run: number,
): Readonly<Record<string, AttackResult>> {
  /**
   * The results, and the id of the run to which they belong. Without the id, the page would still show the results of
   * the previous run when a new run begins.
   */
  const [{ id, results }, setResults] = useState<Run>(NO_RUN);
  const currentID = `${source} ${run}`;
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    setResults({ id: currentID, results: {} });
    const set = (name: string, result: AttackResult) => {
      if (!signal.aborted) setResults(({ id, results }) => ({ id, results: { ...results, [name]: result } }));
    };
    const runAll = async () => {
      for (const attack of attacks.list) {
        if (signal.aborted) return;
        set(attack.name, { state: "running" });
        const start = performance.now();
        const result = await runAttack(attacks.url, attack, source, signal);
        set(attack.name, { ...result, duration: performance.now() - start });
      }
    };
    void runAll();
    return () => {
      controller.abort();
    };
  }, [currentID]);
  return id === currentID ? results : NO_RUN.results;
}

async function runAttack(
  url: string,
  attack: ExplorerAttack,
  source: AttackedSource,
  signal: AbortSignal,
): Promise<AttackResult> {
  const { userID, expectedCode, sendsFalseKey } = attack;
  const args = { userID, options: optionsOf(url, attack, source) };
  try {
    const { failure } = await callWorker("complete", "runAttack", args, { signal });
    if (failure === undefined) return { state: sendsFalseKey ? "fooled" : "unaffected" };
    const { code, name } = failure;
    return { state: name === "VerificationError" || code === expectedCode ? "rejected" : "failed", code };
  } catch (error) {
    return { state: "failed", code: String(error) };
  }
}

/** Returns the options of a verification in which all servers are the attacker's. */
function optionsOf(url: string, { name, sentKey, contract }: ExplorerAttack, source: AttackedSource): Options {
  const server = `${url}/${name}`;
  const options = optionsFor({ ...defaultChoice(), source });
  const { trust } = options;
  return {
    ...options,
    ...(contract !== undefined && { contract, accounts: true }),
    ...{ rpc: `${server}/rpc`, merkleUrl: `${server}/files`, expectedPublicKey: sentKey },
    ...(trust.name === "light-client" && {
      trust: { ...trust, settings: { ...trust.settings, urls: [`${server}/beacon`] } },
    }),
  };
}
