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

export function accountsDisabled(): ServiceError {
  const message =
    "This service has no accounts: each user has one key. Register it with /v1/authdUser/publicKey/register.";
  return new ServiceError(404, "ACCOUNTS_DISABLED", message);
}

export function accountMissing(): ServiceError {
  const message = "The user's account text is not stored. Send it to /v1/authdUser/account/store first.";
  return new ServiceError(404, "ACCOUNT_MISSING", message);
}

export function wrongNumber(number: number, expected: number, kind: "key" | "void"): ServiceError {
  const message = `The statement has the number ${number}, but the account's next ${kind} statement must have the number ${expected}. Sign that number.`;
  return new ServiceError(409, "STATEMENT_NUMBER", message);
}

export function slotTaken(number: number): ServiceError {
  const message = `Slot ${number} of the account is the id of a user whose key a publisher took before the account was stored. If the key is on the chain, sign void for this number. Otherwise, contact the operator of the service.`;
  return new ServiceError(409, "SLOT_TAKEN", message);
}

export function firstKeyPending(): ServiceError {
  const message = "The first key of the account is not on the chain yet. Wait until its state is published.";
  return new ServiceError(409, "CHANGE_PENDING", message);
}

export function changePending(number: number, isPublished: boolean): ServiceError {
  const remedy = isPublished
    ? "It is on the chain, and contacts with older blocks still use the key before it. Try again in half an hour."
    : "Wait until it is published, or object to it with a recovery key during its hold period.";
  const message = `Statement ${number} of the account is not settled yet, and only one change at a time is possible. ${remedy}`;
  return new ServiceError(409, "CHANGE_PENDING", message);
}

export function changeObjected(): ServiceError {
  const message =
    "There is an objection to this statement, so its key is not published. Sign the same number for another key, or let the partner approve the statement.";
  return new ServiceError(409, "CHANGE_OBJECTED", message);
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
