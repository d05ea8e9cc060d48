import { checkInteger } from "keyroot/internal/input";
import { about } from "../shared/answers.ts";
import { keyChange, userAccount } from "../shared/answerChecks.ts";
import { type CallOptions, keyOf, userOf } from "../shared/options.ts";
import type { OperationClient } from "../shared/operationClient.ts";
import type { KeyChange, UserAccount } from "../shared/operations.ts";

/**
 * The operations on users' accounts (docs/accounts.md). They are in the `accounts` field of `PartnerClient`, and throw
 * the same errors as the client's other operations.
 * @example
 * const { accounts } = new PartnerClient({ serviceUrl: "https://keys.example", bizID, serverToken });
 * const { statements } = await accounts.get(userID);
 */
export class PartnerAccounts {
  readonly #operations: OperationClient;

  constructor(operations: OperationClient) {
    this.#operations = operations;
  }

  /** Returns a user's account with all its statements. */
  async get(userID: string, options: CallOptions = {}): Promise<UserAccount> {
    const { subject, body } = userOf(userID);
    return this.#operations.call("/v1/authdBizSrv/accounts/get", body, about(subject, userAccount), options);
  }

  /**
   * Objects to a pending change of a user's key. Repeating the call has no effect.
   * @param number the number of the change, from a `keyChange.held` event
   * @param keyID the id of the change's key in base64, from the same event
   */
  async object(userID: string, number: number, keyID: string, options: CallOptions = {}): Promise<KeyChange> {
    return this.#decide("/v1/authdBizSrv/accounts/object", userID, number, keyID, options);
  }

  /**
   * Approves a change of a user's key although a recovery key objected to it. Before you call this function, find out
   * who really owns the account. Repeating the call has no effect.
   */
  async approve(userID: string, number: number, keyID: string, options: CallOptions = {}): Promise<KeyChange> {
    return this.#decide("/v1/authdBizSrv/accounts/approve", userID, number, keyID, options);
  }

  #decide(
    path: "/v1/authdBizSrv/accounts/object" | "/v1/authdBizSrv/accounts/approve",
    userID: string,
    number: number,
    keyID: string,
    options: CallOptions,
  ): Promise<KeyChange> {
    const { subject, body } = keyOf(userID, keyID);
    checkInteger("The number argument", number, 0);
    return this.#operations.call(path, { ...body, number }, about(subject, keyChange), options);
  }
}
