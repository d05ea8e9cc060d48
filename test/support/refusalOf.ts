import { ArgumentError, KeyrootError, TransportError, VerificationError } from "keyroot";

type Call<Args extends readonly unknown[]> = (...args: Args) => unknown;

/** Returns the Keyroot error of a call, or undefined without an error. Throws any other error again. */
function errorOf<Args extends readonly unknown[]>(call: Call<Args>, args: Args): KeyrootError | undefined {
  try {
    call(...args);
    return undefined;
  } catch (error) {
    if (error instanceof KeyrootError) return error;
    throw error;
  }
}

/** Returns the code of a call's Keyroot error, or undefined without an error. Throws any other error again. */
export function codeOf<Args extends readonly unknown[]>(call: Call<Args>, ...args: Args): string | undefined {
  return errorOf(call, args)?.code;
}

/**
 * Returns the code of a call's error: CODE for an invalid argument, "step: CODE" for a failed verification, "transport:
 * CODE" for a TransportError, and undefined if there is no error. Any other error is a defect, and is thrown again.
 */
export function refusalOf<Args extends readonly unknown[]>(call: Call<Args>, ...args: Args): string | undefined {
  const error = errorOf(call, args);
  if (error === undefined || error instanceof ArgumentError) return error?.code;
  if (error instanceof VerificationError) return `${error.step}: ${error.code}`;
  if (error instanceof TransportError) return `transport: ${error.code}`;
  throw new Error("This class of error does not belong here.", { cause: error });
}
