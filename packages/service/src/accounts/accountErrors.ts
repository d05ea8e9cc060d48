import { VerificationError } from "keyroot/internal/errors";
import { ServiceError, type ServiceErrorCode } from "../api/base/errors.ts";

/** Runs a check of a text that the caller sent. The library's errors then become errors of the request. */
export function checkSent<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    throw new ServiceError(400, error.code as ServiceErrorCode, error.message, { cause: error });
  }
}

export function wrongNumber(number: number, expected: number, kind: "key" | "void"): ServiceError {
  const message = `The statement has the number ${number}, but the account's next ${kind} statement must have the number ${expected}. Sign that number.`;
  return new ServiceError(409, "STATEMENT_NUMBER", message);
}

export function changePending(number: number, isPublished: boolean): ServiceError {
  const remedy = isPublished
    ? "It is on the chain, and contacts with older blocks still use the key before it. Try again in half an hour."
    : "Wait until it is published, or object to it with a recovery key during its hold period.";
  const message = `Statement ${number} of the account is not settled yet, and only one change at a time is possible. ${remedy}`;
  return new ServiceError(409, "CHANGE_PENDING", message);
}

export function changeUnknown(): ServiceError {
  const message = "The user has no statement with this number and key. Take both from the account's statements.";
  return new ServiceError(404, "CHANGE_UNKNOWN", message);
}

export function changeSubmitted(): ServiceError {
  const message =
    "The key is being published, is on the chain, or was approved by the partner. An objection can no longer stop it. Sign the next number for another key.";
  return new ServiceError(409, "CHANGE_SUBMITTED", message);
}
