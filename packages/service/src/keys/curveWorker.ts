/** A thread that checks public keys and makes challenges, one at a time. */
import { constants, setPriority } from "node:os";
import { platform } from "node:process";
import { parentPort } from "node:worker_threads";
import { KeyrootError } from "keyroot/errors";
import { type ChallengeRequest, checkNewPublicKey, makeChallenge } from "keyroot/identity";

/** A public key to check; with a statement, also the challenge to make for it. */
export type CurveJob = { publicKey: Uint8Array } | { statement: ChallengeRequest };

/** An ephemeral key, and the only response that proves possession. Both are empty for a check without a challenge. */
export interface MadeChallenge {
  ephemeralKey: Uint8Array;
  response: Uint8Array;
}

/** The result, or the reason why the key is refused. Other errors end the thread. */
export type CurveAnswer = { made: MadeChallenge } | { refused: { code: string; message: string } };

// Requests without curve arithmetic have priority. Only Linux has a priority for each thread (`man 2 setpriority`, NOTES).
if (platform === "linux") setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

const port = parentPort;
port?.on("message", (job: CurveJob) => {
  port.postMessage(answer(job));
});

function answer(job: CurveJob): CurveAnswer {
  try {
    if ("statement" in job) return { made: makeChallenge(job.statement) };
    checkNewPublicKey(job.publicKey);
    return { made: { ephemeralKey: new Uint8Array(), response: new Uint8Array() } };
  } catch (error) {
    if (!(error instanceof KeyrootError)) throw error;
    return { refused: { code: error.code, message: error.message } };
  }
}
