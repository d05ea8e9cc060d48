import type { VerificationStep } from "keyroot/internal/errors";
import { useEffect, useState } from "preact/hooks";
import { callWorker } from "../shared/callWorker.ts";
import type { Failure, Options, Progress, VerificationOutcome } from "../worker/messages.ts";
import { workerFor } from "./evidenceChoice.ts";

/** The steps of a verification, in order. */
export const STEPS = ["anchor", "root", "file", "tree", "record", "key"] as const satisfies VerificationStep[];

export type StepState = "waiting" | "running" | "passed" | "failed" | "unknown";

/** A verification that is running or has ended. */
export interface Verification {
  /** The source of the data: the network, or a bundle file with its name. */
  source: "network" | { bundle: string };
  userID: string;
  options: Options;
  progress: readonly Progress[];
  outcome: VerificationOutcome | undefined;
  /** An error that prevented the worker from running. */
  defect: string | undefined;
  /** Time from the start to the result, in ms. */
  duration: number | undefined;
}

/**
 * Verifies a user's key. It verifies the key again each time an argument changes, so a new `attempt` number repeats it.
 * @param userID the user to verify. If undefined, no verification starts
 */
export function useVerification(
  userID: string | undefined,
  options: Options,
  attempt: number,
): Verification | undefined {
  const [state, setState] = useState<Verification>();
  const key = JSON.stringify(options);
  useEffect(() => {
    if (userID === undefined) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    const start = performance.now();
    const update = (change: (state: Verification) => Partial<Verification>) => {
      if (!signal.aborted) setState((state) => state && { ...state, ...change(state) });
    };
    setState({
      source: "network",
      userID,
      options,
      progress: [],
      outcome: undefined,
      defect: undefined,
      duration: undefined,
    });
    const onProgress = (event: Progress) => {
      update(({ progress }) => ({ progress: [...progress, event] }));
    };
    callWorker(workerFor(options), "verify", { userID, options }, { signal, onProgress }).then(
      (outcome) => {
        update(() => ({ outcome, duration: performance.now() - start }));
      },
      (error: unknown) => {
        update(() => ({ defect: String(error) }));
      },
    );
    return () => {
      controller.abort();
    };
    // `key` changes when the options change.
  }, [userID, key, attempt]);
  return state?.userID === userID ? state : undefined;
}

export function stepStates(verification: Verification | undefined): Record<VerificationStep, StepState> {
  const current = currentStep(verification);
  const { outcome, defect } = verification ?? {};
  const isOnline = verification?.source === "network";
  const failed = outcome && "failure" in outcome ? stepOfFailure(outcome.failure, current, isOnline) : undefined;
  const isUnreadable = verification !== undefined && isUnreadableBundle(verification);
  const isAbsent = verification !== undefined && isAbsence(verification);
  const states = STEPS.map((step, i) => {
    if (outcome && "verified" in outcome) return [step, "passed"];
    if (defect !== undefined) return [step, "unknown"];
    // The contract's answer that there is no root is a result, not a failure.
    if (isAbsent) return [step, i <= STEPS.indexOf("root") ? "passed" : "unknown"];
    const position = STEPS.indexOf(failed ?? current);
    if (i < position) return [step, isUnreadable ? "unknown" : "passed"];
    if (i > position) return [step, failed === undefined ? "waiting" : "unknown"];
    return [step, failed === undefined ? "running" : "failed"];
  });
  return Object.fromEntries(states) as Record<VerificationStep, StepState>;
}

/** Whether the contract has no root for the user. */
export function isAbsence({ outcome }: Pick<Verification, "outcome">): boolean {
  return outcome !== undefined && "failure" in outcome && outcome.failure.code === "NOT_PUBLISHED";
}

/** Whether a file is no bundle. Such a file is rejected before the first step. */
export function isUnreadableBundle({ source, outcome }: Verification): boolean {
  return source !== "network" && outcome !== undefined && "failure" in outcome && outcome.path === undefined;
}

/** Returns the current step of a verification. The verifier requests the file only after the root is verified. */
function currentStep(verification: Verification | undefined): VerificationStep {
  const { progress = [] } = verification ?? {};
  if (progress.some(({ kind }) => kind === "received")) return "tree";
  return progress.some(({ kind }) => kind === "file") ? "file" : "anchor";
}

/** Returns the step at which a verification failed. Network errors contain no step. */
function stepOfFailure({ step, code = "" }: Failure, current: VerificationStep, isOnline: boolean): VerificationStep {
  // If the endpoint is on a wrong chain, show the error in the `anchor` step instead of the `root` step.
  if (code === "CHAIN_ID_MISMATCH" && isOnline) return "anchor";
  if (step !== undefined) return step;
  return code.startsWith("RPC_") && current !== "anchor" ? "root" : current === "tree" ? "file" : current;
}
