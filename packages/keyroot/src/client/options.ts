import { describeValue } from "../input/describeValue.ts";
import { ArgumentError } from "../errors.ts";
import { checkUrl } from "../transport/jsonRpc.ts";

/** Where the service is, and what asking it may cost. */
export interface ClientOptions {
  /** The service's address: https, or http on this machine. */
  baseUrl: string;
  /** The partner's business identifier (specification, "Business identifier"). */
  bizId: string;
  /** The most milliseconds that one try takes, from the request to the last byte of its answer. Default 10,000. */
  timeoutMs?: number | undefined;
  /** How often a request is tried again, at the most. Default 4. */
  retries?: number | undefined;
  /** Fetches; default the global one. It must heed `signal` and `redirect`. */
  fetch?: typeof globalThis.fetch | undefined;
  /** Milliseconds since 1970; default the system's clock. */
  now?: (() => number) | undefined;
}

/** What every operation of a client takes. */
export interface CallOptions {
  /** Ends the call early, with ABORTED. */
  signal?: AbortSignal | undefined;
}

/** The same, checked, and with its defaults. */
export interface CheckedOptions extends Pick<ClientOptions, "baseUrl" | "bizId" | "fetch"> {
  timeoutMs: number;
  retries: number;
  now: () => number;
}

/** @throws ArgumentError ARGUMENT_INVALID */
export function checkOptions(options: ClientOptions): CheckedOptions {
  const { bizId, timeoutMs = 10_000, retries = 4, fetch, now = Date.now } = options;
  if (typeof bizId !== "string" || !/^[\x21-\x7e]{1,200}$/.test(bizId)) {
    throw invalidOption("bizId", "the partner's business identifier, a text without spaces", bizId);
  }
  // setTimeout takes no more than 31 bits.
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1 || timeoutMs >= 2 ** 31) {
    throw invalidOption("timeoutMs", "a whole number from 1 to 2^31 - 1", timeoutMs);
  }
  if (!Number.isSafeInteger(retries) || retries < 0 || retries > 100) {
    throw invalidOption("retries", "a whole number from 0 to 100", retries);
  }
  return { baseUrl: checkBaseUrl(options.baseUrl), bizId, timeoutMs, retries, fetch, now };
}

/**
 * Returns a refresh token that it was given. The error does not show it.
 * @param prefix how such a token begins
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function checkRefreshToken(option: string, token: unknown, prefix: "krs_" | "kru_"): string {
  if (typeof token === "string" && token.startsWith(prefix) && /^[\x21-\x7e]{5,500}$/.test(token)) return token;
  const whose = prefix === "krs_" ? "a server's" : "a user's";
  const message = `The option ${option} must be ${whose} refresh token, which begins with ${prefix}.`;
  throw new ArgumentError("ARGUMENT_INVALID", message);
}

/** The address without a slash at its end. Tokens go there: nobody on the way may read them. */
function checkBaseUrl(baseUrl: unknown): string {
  const { protocol, hostname, search, hash, href } = new URL(checkUrl("baseUrl", baseUrl));
  if (protocol !== "https:" && !isLoopback(hostname)) {
    const message = `The option baseUrl must be an https address: ${hostname} is not this machine, and tokens go there.`;
    throw new ArgumentError("ARGUMENT_INVALID", message);
  }
  if (search !== "" || hash !== "") {
    throw new ArgumentError("ARGUMENT_INVALID", "The option baseUrl must be an address without ? and #.");
  }
  return href.replace(/\/+$/, "");
}

/** The names and addresses of this machine (RFC 6761, section 6.3; RFC 1122, section 3.2.1.3; RFC 4291, section 2.5.3). */
function isLoopback(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost\.?|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

export function invalidOption(name: string, expected: string, actual: unknown): ArgumentError {
  const message = `The option ${name} must be ${expected}, it is ${describeValue(actual)}.`;
  return new ArgumentError("ARGUMENT_INVALID", message, { expected, actual: describeValue(actual) });
}
