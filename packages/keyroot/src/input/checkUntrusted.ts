import { ArgumentError, VerificationError, type VerificationStep } from "../errors.ts";

/**
 * Runs a check or parser on data from an untrusted source. Where it throws an ArgumentError, the data fails verification:
 * throws a VerificationError with the same code instead.
 * @param subject the name of the data, with which the message begins
 */
export function checkUntrusted<T>(step: VerificationStep, subject: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    const { code, message, expected, actual } = error;
    throw new VerificationError(step, code, `${subject}: ${message}`, { expected, actual, cause: error });
  }
}
