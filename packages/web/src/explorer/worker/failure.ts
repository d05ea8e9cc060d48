import { KeyrootError, VerificationError } from "keyroot/errors";
import type { Failure } from "../messages.ts";

/** An error of the library as a message. @throws any other error, which is a defect */
export function toFailure(error: unknown): Failure {
  if (!(error instanceof KeyrootError)) throw error;
  const { step, evidence } = error instanceof VerificationError ? error : {};
  const { name, code, message, expected, actual } = error;
  return { name, code, message, step, evidence, expected: simple(expected), actual: simple(actual) };
}

function simple(value: unknown): string | number | undefined {
  return typeof value === "string" || typeof value === "number" ? value : undefined;
}
