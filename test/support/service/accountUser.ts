import { ed25519 } from "@noble/curves/ed25519.js";
import type { PartnerClient } from "@keyroot/client/partner";
import { UserClient } from "@keyroot/client/user";
import {
  type Account,
  keyStatementText,
  type KeyStatementOptions,
  makeAccount,
  makeKeyStatement,
  makeObjection,
  objectionText,
} from "keyroot/account";
import type { Region } from "keyroot/internal/identity";
import { generateKeyPair } from "keyroot/records";
import { userIDToHex } from "../../../packages/keyroot/src/identity/userID.ts";

/** The recovery keys of all accounts in tests: the number 1 is on the phone, and 2 on paper. */
const RECOVERY = [1, 2].map((byte) => new Uint8Array(32).fill(byte));
const sign = (text: string, keyNumber: number) =>
  ed25519.sign(new TextEncoder().encode(text), RECOVERY[keyNumber - 1] ?? new Uint8Array());

/** A key pair of Curve41417. */
export type Key = ReturnType<typeof generateKeyPair>;

/** The service of an account's user. */
export interface AccountService {
  serviceUrl: string;
  bizID: string;
  chainId: number;
  contract: string;
  partner: PartnerClient;
}

/** A user with an account of two recovery keys, threshold 1, on a phone whose app uses the service. */
export class AccountUser {
  readonly account: Account;
  readonly client: UserClient;

  private constructor(account: Account, client: UserClient) {
    this.account = account;
    this.client = client;
  }

  static async create(service: AccountService, region: Region = "eu-west-1"): Promise<AccountUser> {
    const { chainId, contract, partner } = service;
    const keys = RECOVERY.map((secret) => ({ type: "ed25519" as const, publicKey: ed25519.getPublicKey(secret) }));
    const account = makeAccount({ chainId, contract, keys, threshold: 1 });
    await partner.createUser(userIDToHex(account.userID), region);
    return new AccountUser(account, await clientOf(service, account.userID));
  }

  /** Signs a statement with a recovery key. */
  sign(number: number, publicKey: KeyStatementOptions["publicKey"], keyNumber = 2): string {
    const signature = sign(keyStatementText(this.account, { number, publicKey }), keyNumber);
    return makeKeyStatement(this.account, { number, publicKey, signatures: [{ keyNumber, signature }] });
  }

  /** Signs an objection with a recovery key. */
  object(number: number, publicKey: KeyStatementOptions["publicKey"], keyNumber = 2): string {
    const signature = { keyNumber, signature: sign(objectionText(this.account, { number, publicKey }), keyNumber) };
    return makeObjection(this.account, { number, publicKey, signature });
  }

  /** Stores the account, and submits the first key. */
  async start(key = generateKeyPair()): Promise<Key> {
    await this.client.storeAccount(this.account.text);
    await this.client.submitStatement(this.sign(0, key.publicKey), key);
    return key;
  }

  /** Submits a change, as the app on a new phone does. */
  change(number: number, key: Key, keyNumber?: number) {
    return this.client.submitStatement(this.sign(number, key.publicKey, keyNumber), key);
  }
}

async function clientOf({ serviceUrl, bizID, chainId, contract, partner }: AccountService, userID: string) {
  const refreshToken = await partner.createUserRefreshToken(userID, "a phone");
  return new UserClient({ serviceUrl, bizID, refreshToken, chainId, contract });
}
