import type { Check } from "./answers.ts";
import type { OperationOptions } from "./callOperation.ts";
import type { AnswerOf, BodyOf, OperationPath } from "./operations.ts";
import { type CallOptions, checkCallOptions } from "./options.ts";

/** Sends an authenticated operation, and returns the JSON of its answer, unchecked. */
export type SendOperation = (
  path: OperationPath,
  body: object,
  options: Omit<OperationOptions, "accessToken">,
) => Promise<unknown>;

/** Calls operations and checks their answers. */
export class OperationClient {
  /** Sends an operation without checking its answer. */
  readonly send: SendOperation;

  constructor(send: SendOperation) {
    this.send = send;
  }

  /**
   * Calls an operation.
   * @param check checks the answer
   * @throws ArgumentError ARGUMENT_INVALID; and as `OperationCall` and `check`
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
