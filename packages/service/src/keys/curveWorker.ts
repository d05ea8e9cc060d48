/** The code of a thread that checks public keys and makes challenges, one at a time. */
import { constants, setPriority } from "node:os";
import { platform } from "node:process";
import { parentPort } from "node:worker_threads";
import { KeyrootError } from "keyroot/internal/errors";
import { type ChallengeRequest, makeChallenge } from "keyroot/internal/identity";

/** An ephemeral key, and the only response that proves possession of the private key. */
export interface MadeChallenge {
  ephemeralKey: Uint8Array;
  response: Uint8Array;
}

/** The result of a job, or the reason why the key is rejected. Other errors end the thread. */
export type CurveAnswer = { made: MadeChallenge } | { refused: { code: string; message: string } };

// Give the main thread priority over this thread. Only Linux has a priority for each thread (`man 2 setpriority`,
// NOTES).
if (platform === "linux") setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

const port = parentPort;
port?.on("message", (request: ChallengeRequest) => {
  port.postMessage(answer(request));
});

function answer(request: ChallengeRequest): CurveAnswer {
  try {
    return { made: makeChallenge(request) };
  } catch (error) {
    if (!(error instanceof KeyrootError)) throw error;
    return { refused: { code: error.code, message: error.message } };
  }
}
