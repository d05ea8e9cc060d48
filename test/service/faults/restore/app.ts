import { randomBytes } from "node:crypto";
import {
  generateKeyPair,
  type KeyPair,
  type KeyRecord,
  type Region,
  type UserID,
  userIDFromHex,
} from "keyroot/identity";
import { answerChallenge, keyFieldsOf } from "../../../support/service/answerChallenge.ts";
import { type Partner, post, type ServiceResponse } from "../../../support/service/serviceProcess.ts";

/** A partner's user with the user's app. Every request must succeed. */
export class AppUser {
  readonly hex = randomBytes(20).toString("hex");
  readonly userID: UserID = userIDFromHex(this.hex);
  readonly #origin: () => string;
  readonly #partner: Partner;
  readonly #region: Region;
  #token = "";

  /** @param origin returns the URL of the service */
  constructor(origin: () => string, partner: Partner, region: Region) {
    this.#origin = origin;
    this.#partner = partner;
    this.#region = region;
  }

  /** Creates the user and a refresh token. Repeating the call creates another token. */
  async create(): Promise<void> {
    const { accessToken } = this.#partner;
    const user_id_hex = this.hex;
    await this.#send("/v1/authdBizSrv/users/create", { user_id_hex, region: this.#region }, accessToken);
    const body = { user_id_hex, context: "app" };
    const { token } = (await this.#send("/v1/authdBizSrv/users/createRefreshToken", body, accessToken)).body;
    this.#token = String(token);
  }

  /** Registers a key. @returns the record that should be published */
  async register(keys: KeyPair = generateKeyPair()): Promise<KeyRecord> {
    const fields = keyFieldsOf(keys);
    const accessToken = await this.#exchange();
    const { body } = await this.#send("/v1/authdUser/publicKey/challenge", fields, accessToken);
    await this.#send("/v1/authdUser/publicKey/register", answerChallenge(body, keys), accessToken);
    return { userID: this.userID, pubKey: fields.public_key, keyID: fields.key_id };
  }

  async withdraw({ keyID }: KeyRecord): Promise<void> {
    await this.#send("/v1/authdUser/publicKey/withdraw", { key_id: keyID }, await this.#exchange());
  }

  /** Reads the user's record, as the user's app does. */
  async read(): Promise<ServiceResponse["body"]> {
    return (await this.#send("/v1/authdUser/record/get", {}, await this.#exchange())).body;
  }

  async #exchange(): Promise<string> {
    const body = { biz_id: this.#partner.bizID, token: this.#token };
    return String((await this.#send("/v1/public/auth/jwt", body)).body["jwt"]);
  }

  async #send(path: string, body: object, accessToken?: string): Promise<ServiceResponse> {
    const response = await post(this.#origin() + path, body, accessToken === undefined ? {} : { accessToken });
    if (response.status < 300) return response;
    throw new Error(`${path}: ${JSON.stringify(response)}`);
  }
}
