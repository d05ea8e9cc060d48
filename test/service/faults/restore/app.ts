import {
  generateKeyPair,
  type KeyPair,
  type KeyRecord,
  type Region,
  type UserID,
  userIDFromHex,
} from "keyroot/internal/identity";
import { keyFieldsOf } from "../../../support/service/answerChallenge.ts";
import { type Caller, randomHex, type TestPartner } from "../../../support/service/caller.ts";

/** A partner's user with an app. Every request must succeed. */
export class AppUser {
  readonly hex = randomHex();
  readonly userID: UserID = userIDFromHex(this.hex);
  readonly #service: Caller;
  readonly #partner: TestPartner;
  readonly #region: Region;
  #token = "";

  constructor(service: Caller, partner: TestPartner, region: Region) {
    this.#service = service;
    this.#partner = partner;
    this.#region = region;
  }

  /** Creates the user and a refresh token. Repeating the call creates another token. */
  async create(): Promise<void> {
    this.#token = (await this.#service.createUser(this.#partner, this.#region, this.hex)).refreshToken;
  }

  /** Registers a key. @returns the record that should be published */
  async register(keys: KeyPair = generateKeyPair()): Promise<KeyRecord> {
    const { status, text } = await this.#service.registerKey({ jwt: await this.#exchange() }, keys);
    if (status !== 200) throw new Error(`The key was not registered: ${text}`);
    const { public_key: pubKey, key_id: keyID } = keyFieldsOf(keys);
    return { userID: this.userID, pubKey, keyID };
  }

  async withdraw({ keyID }: KeyRecord): Promise<void> {
    const token = await this.#exchange();
    await this.#service.done("/v1/authdUser/publicKey/withdraw", { key_id: keyID }, { token });
  }

  /** Reads the user's record, as the app does. */
  async read(): Promise<Record<string, unknown>> {
    return this.#service.done("/v1/authdUser/record/get", {}, { token: await this.#exchange() });
  }

  #exchange(): Promise<string> {
    return this.#service.exchange(this.#partner.bizID, this.#token);
  }
}
