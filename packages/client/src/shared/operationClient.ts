import type { Check } from "./answers.ts";
import type { OperationOptions } from "./callOperation.ts";
import type { AnswerOf, BodyOf, OperationPath } from "./operations.ts";
import { type CallOptions, checkCallOptions } from "./options.ts";

/** Calls an operation with an access token, and returns the response's JSON without checking it. */
export type SendOperation = (
  path: OperationPath,
  body: object,
  options: Omit<OperationOptions, "accessToken">,
) => Promise<unknown>;

/** Calls operations and checks the responses. */
export class OperationClient {
  readonly send: SendOperation;

  constructor(send: SendOperation) {
    this.send = send;
  }

  /**
   * Calls an operation.
   * @param check checks the response
   * @throws ArgumentError ARGUMENT_INVALID; and the errors of `operationCaller` and `check`
   */
  async call<Path extends OperationPath>(
    path: Path,
    body: BodyOf<Path>,
    check: Check<AnswerOf<Path>>,
    options: CallOptions,
    idempotencyKey?: string,
  ): Promise<AnswerOf<Path>> {
    const { signal } = checkCallOptions(options);
    return check("answer", await this.send(path, body, { signal, ...(idempotencyKey && { idempotencyKey }) }));
  }
}
