import { ArgumentError, KeyrootError, VerificationError } from "../../packages/keyroot/src/errors.ts";

/** Returns the code of a call's Keyroot error, or undefined without an error. Throws any other error again. */
export function codeOf(call: () => unknown): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    if (error instanceof KeyrootError) return error.code;
    throw error;
  }
}

/**
 * Returns the code of a call's error: CODE for an invalid argument, "step: CODE" for a failed verification, and undefined
 * without an error. Throws any other error again, because it is a defect.
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
