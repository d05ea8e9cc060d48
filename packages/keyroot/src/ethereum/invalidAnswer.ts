import { TransportError } from "../errors.ts";
import { describeValue } from "../input/describeValue.ts";

/** The error for an answer of a JSON-RPC endpoint that does not have the expected form: RPC_ANSWER_INVALID. */
export function invalidAnswer(expected: string, actual: unknown): TransportError {
  const description = describeValue(actual);
  const message = `The endpoint's answer is invalid: expected ${expected}, got ${description}.`;
  return new TransportError("RPC_ANSWER_INVALID", message, { expected, actual: description });
}
