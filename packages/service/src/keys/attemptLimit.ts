import type { UserID } from "keyroot/identity";
import { ServiceError } from "../errors.ts";
import { MinuteLimit, type Quota } from "../rateLimits/minuteLimit.ts";

/** Maximum attempts per user and minute at one replica. A registration needs one attempt. */
const PER_MINUTE = 10;

/** Limits a user's attempts to register a key. Each challenge counts as an attempt. */
export class AttemptLimit {
  readonly #attempts = new MinuteLimit(PER_MINUTE);

  /** Counts an attempt. @throws ServiceError RATE_LIMITED */
  count(userID: UserID): void {
    enforce(this.#attempts.count(userID));
  }

  /** Checks that the user has an attempt left, without counting one. @throws ServiceError RATE_LIMITED */
  require(userID: UserID): void {
    enforce(this.#attempts.exceeded(userID));
  }
}

function enforce(quota: Quota | undefined): void {
  if (quota?.exceeded !== true) return;
  const { resetSeconds: retryAfter } = quota;
  const message = `More than ${PER_MINUTE} attempts to register a key in a minute: wait ${retryAfter} s.`;
  throw new ServiceError(429, "RATE_LIMITED", message, { retryAfter });
}
