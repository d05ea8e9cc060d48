/** Maximum wait in seconds, which is 31 years. It replaces longer values of Retry-After. */
const MAX_RETRY_AFTER_S = 999_999_999;

/**
 * Returns the wait in seconds from the header Retry-After, which is a number of seconds or a date (RFC 9110, sections
 * 10.2.3 and 5.6.7). The result is undefined if the header is missing or malformed.
 */
export function retryAfterOf(headers: Headers): number | undefined {
  const value = headers.get("Retry-After");
  if (value === null) return undefined;
  if (/^\d+$/.test(value)) return Math.min(Number(value), MAX_RETRY_AFTER_S);
  // Every HTTP date begins with the name of a weekday. A date in the oldest of the formats has no "GMT" at the end, so
  // it is added.
  const isDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(value);
  const date = isDate ? Date.parse(value.endsWith(" GMT") ? value : `${value} GMT`) : NaN;
  if (Number.isNaN(date)) return undefined;
  return Math.min(Math.max(0, Math.ceil((date - Date.now()) / 1000)), MAX_RETRY_AFTER_S);
}
