import { ServiceError } from "keyroot/errors";

/** The error for an Idempotency-Key that cannot return the result of its first request. */
export function keyReused(reason: string): ServiceError {
  const message = `The Idempotency-Key was used before: ${reason}. Send a new key.`;
  return new ServiceError(409, "IDEMPOTENCY_KEY_REUSED", message);
}
