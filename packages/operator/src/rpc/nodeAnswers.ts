import { TransportError } from "keyroot/internal/errors";
import type { NodeAnswer } from "./nodeAnswer.ts";
import { LOG_ANSWERS, READ_ANSWERS } from "./readAnswers.ts";
import { SEND_ANSWERS } from "./sendAnswers.ts";
import { REQUEST_ANSWERS } from "./requestAnswers.ts";

const UNKNOWN: NodeAnswer = { reaction: "end", source: "No row describes this answer." };

const SENDS: readonly string[] = ["eth_sendRawTransaction", "eth_sendTransaction"];

/** Returns true for a request that sends a transaction. Other requests only read, and can be repeated without harm. */
export function isSend(method: string): boolean {
  return SENDS.includes(method);
}

/**
 * Returns the reaction to a failed request. Each kind of request has its tables, and the first matching row determines
 * the reaction. An HTTP status such as 429 takes precedence over the body.
 * @param method the method of the request, such as `eth_getLogs`
 */
export function nodeAnswerTo(error: unknown, method: string): NodeAnswer {
  if (!(error instanceof TransportError)) return UNKNOWN;
  // A large answer or a long time is a reason to narrow a range of logs first.
  const rows =
    method === "eth_getLogs"
      ? [...LOG_ANSWERS, ...REQUEST_ANSWERS, ...READ_ANSWERS, ANY_LOG_ANSWER]
      : [...REQUEST_ANSWERS, ...(isSend(method) ? SEND_ANSWERS : READ_ANSWERS)];
  return rows.find((row) => matches(row, error)) ?? UNKNOWN;
}

/** The last row for logs, because providers change their limits and messages, and a smaller range does no harm. */
const ANY_LOG_ANSWER: NodeAnswer = {
  reaction: "narrow",
  source: "ethers-io/ethers.js#4703: providers word the limits of eth_getLogs in many ways.",
};

function matches(row: NodeAnswer, error: TransportError): boolean {
  const [status, code] = [statusOf(error), rpcCodeOf(error)];
  return (
    (row.error ?? ["RPC_ERROR"]).includes(error.code) &&
    (row.status === undefined || (status !== undefined && row.status.includes(status))) &&
    (row.code === undefined || (code !== undefined && row.code.includes(code))) &&
    (row.message === undefined || row.message.test(error.reason ?? "")) &&
    (row.withoutCode === undefined || (code === undefined && error.cause instanceof Error))
  );
}

/** The code of the JSON-RPC error. */
function rpcCodeOf({ actual }: TransportError): number | undefined {
  return typeof actual === "number" && !isStatus(actual) ? actual : undefined;
}

/**
 * Returns the HTTP status of the answer. Some providers send the status as the code of a JSON-RPC error. Hardhat's
 * provider keeps it in the cause of its error.
 * @returns undefined if the status is unknown
 */
function statusOf(error: TransportError): number | undefined {
  const { status, actual } = error;
  if (status !== undefined && status !== 200) return status;
  if (typeof actual === "number" && isStatus(actual)) return actual;
  for (let cause: unknown = error.cause, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    if ("statusCode" in cause && typeof cause.statusCode === "number") return cause.statusCode;
  }
  return status;
}

function isStatus(number: number): boolean {
  return number >= 400 && number < 600;
}
