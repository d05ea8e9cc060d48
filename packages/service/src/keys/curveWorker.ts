/** The code of a thread that checks public keys, makes challenges and verifies signatures, one at a time. */
import { constants, setPriority } from "node:os";
import { platform } from "node:process";
import { parentPort } from "node:worker_threads";
import { KeyrootError } from "keyroot/internal/errors";
import type { ChallengeRequest, KeyTypeName, MadeChallenge, PossessionStatement } from "keyroot/internal/identity";
import { loadPossession } from "keyroot/internal/possession";

/** A challenge to make for a key, or a signature to verify. `keyType` is the registry's. */
export type CurveJob =
  | { keyType: KeyTypeName; request: ChallengeRequest }
  | { keyType: KeyTypeName; statement: PossessionStatement; signature: Uint8Array };

/** The result of a job: a challenge, or whether the signature is valid. */
export type CurveResult = MadeChallenge | boolean;

/** The result of a job, or the reason why the key is rejected. Other errors end the thread. */
export type CurveAnswer = { result: CurveResult } | { refused: { code: string; message: string } };

// Give the main thread priority over this one. Only on Linux does each thread have its own priority (`man 2
// setpriority`, NOTES).
if (platform === "linux") setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

const port = parentPort;
port?.on("message", (job: CurveJob) => {
  void answer(job).then((result) => {
    port.postMessage(result);
  });
});

async function answer(job: CurveJob): Promise<CurveAnswer> {
  const possession = await loadPossession(job.keyType);
  if (possession === undefined) throw new Error(`Keys of the type ${job.keyType} prove no possession.`);
  try {
    if ("request" in job) return { result: possession.makeChallenge({ ...job.request, keyType: job.keyType }) };
    const statement = { ...job.statement, keyType: job.keyType };
    return { result: possession.isSignature?.(statement, job.signature) ?? false };
  } catch (error) {
    if (!(error instanceof KeyrootError)) throw error;
    return { refused: { code: error.code, message: error.message } };
  }
}
