import { ArgumentError, KeyrootError, VerificationError } from "../../packages/keyroot/src/errors.ts";

/**
 * The code with which a call is refused: CODE for a bad argument, "step: CODE" for a failed verification; undefined
 * when it is not refused. Any other error is a bug, and thrown on.
 */
export function refusalOf(call: () => unknown): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    if (error instanceof ArgumentError) return error.code;
    if (error instanceof VerificationError) return `${error.step}: ${error.code}`;
    throw error instanceof KeyrootError
      ? new Error("This class of error does not belong here.", { cause: error })
      : error;
  }
}
