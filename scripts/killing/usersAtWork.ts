import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import pMap from "p-map";
import { type KeyRecord, makeKeyRecord } from "keyroot/identity";
import { generateKeyPair } from "keyroot/identity";
import type { Region } from "keyroot/identity";
import { type UserID, userIDFromHex } from "keyroot/identity";
import { type Answer, type Partner, post } from "../../fixtures/service/serviceProcess.ts";

/** How many users are read back at once. */
const READERS = 8;
/** How long to wait before a request without an answer is sent again, in ms. */
const PAUSE = 20;
/** How long to go on sending it, in ms: what was killed is up again long before. */
const PATIENCE = 60_000;

/** What was acknowledged about a user, step by step. */
interface Acknowledged {
  hex: string;
  user?: Answer["body"];
  token?: string;
  key?: { pubKey: string; keyID: string };
}

/** A partner's users who are at work with a service while it is killed, and all that it ever acknowledged to them. */
export class UsersAtWork {
  readonly acknowledged = { users: 0, tokens: 0, keys: 0 };
  /** Requests that got no answer, or that the service could not do then; each was sent again. */
  interrupted = 0;
  /** Acknowledged and not there afterwards, and every other answer that should not be. There must be none. */
  readonly findings: string[] = [];
  readonly #origin: () => string;
  readonly #partner: Partner;
  /** Any keys will do: a fresh pair for each user takes a millisecond, and the service does not compare users' keys. */
  readonly #publicKeys = Array.from({ length: 5 }, () => generateKeyPair().publicKey);
  readonly #users: Acknowledged[] = [];

  /** @param origin where to send the next request: `http://<address>:<port>` */
  constructor(origin: () => string, partner: Partner) {
    this.#origin = origin;
    this.#partner = partner;
  }

  /** A user's way: created, given a token, which is exchanged, and a key registered with what it was exchanged for. */
  async provision(region: Region): Promise<void> {
    const known: Acknowledged = { hex: randomBytes(20).toString("hex") };
    this.#users.push(known);
    const { hex: user_id_hex } = known;
    known.user = (await this.#partnerAsks("users/create", { user_id_hex, region })).body;
    this.acknowledged.users++;
    const idempotencyKey = randomUUID();
    const made = await this.#partnerAsks("users/createRefreshToken", { user_id_hex, context: "app" }, idempotencyKey);
    known.token = String(made.body["token"]);
    this.acknowledged.tokens++;
    const { bizID: biz_id } = this.#partner;
    const { body } = await this.#ask("/v1/public/auth/jwt", { biz_id, token: known.token });
    const publicKey = this.#publicKeys[this.acknowledged.keys % this.#publicKeys.length] ?? new Uint8Array();
    const { pubKey, keyID } = makeKeyRecord(userIDFromHex(user_id_hex), publicKey);
    const bearer = String(body["jwt"]);
    await this.#ask("/v1/authdUser/publicKey/register", { pubKey, keyID }, { bearer });
    known.key = { pubKey, keyID };
    this.acknowledged.keys++;
  }

  /** The keys that were acknowledged. */
  registered(): KeyRecord[] {
    return this.#users.flatMap(({ hex, key }) => (key === undefined ? [] : [{ userID: userIDFromHex(hex), ...key }]));
  }

  /**
   * Asks the API for everything that was ever acknowledged.
   * @param expected what else a user's record must say, where a key was registered
   */
  async readBack(expected: (userID: UserID) => Record<string, unknown>): Promise<void> {
    const { findings } = this;
    await pMap(
      this.#users,
      async ({ hex, user, token, key }) => {
        if (user === undefined) return;
        const found = await this.#partnerAsks("users/get", { user_id_hex: hex });
        // Of a creation, the body tells the status, too.
        if (!isDeepStrictEqual({ status: 201, ...found.body }, user))
          findings.push(`user ${hex}: ${JSON.stringify(found)}`);
        if (token === undefined) return;
        const exchanged = await this.#ask("/v1/public/auth/jwt", { biz_id: this.#partner.bizID, token });
        if (exchanged.status !== 200) findings.push(`token of ${hex}: ${JSON.stringify(exchanged)}`);
        if (key === undefined) return;
        const bearer = String(exchanged.body["jwt"]);
        const { body } = await this.#ask("/v1/authdUser/record/get", {}, { bearer });
        const wanted = { ...key, ...expected(userIDFromHex(hex)) };
        const told = Object.fromEntries(Object.keys(wanted).map((name) => [name, body[name]]));
        if (!isDeepStrictEqual(told, wanted)) findings.push(`key of ${hex}: ${JSON.stringify(body)}`);
      },
      { concurrency: READERS },
    );
  }

  #partnerAsks(operation: string, body: object, idempotencyKey?: string): Promise<Answer> {
    const { jwt: bearer } = this.#partner;
    const headers = { bearer, ...(idempotencyKey !== undefined && { idempotencyKey }) };
    return this.#ask(`/v1/authdBizSrv/${operation}`, body, headers);
  }

  /** Asks until there is an answer, as a careful client does: all that is asked here may be asked again. */
  async #ask(path: string, body: object, headers?: Parameters<typeof post>[2]): Promise<Answer> {
    for (const started = Date.now(); Date.now() - started < PATIENCE;) {
      const answer = await post(this.#origin() + path, body, headers).catch(() => undefined);
      if (answer !== undefined && answer.status < 500) {
        if (answer.status >= 400) this.findings.push(`${path}: ${JSON.stringify(answer)}`);
        return answer;
      }
      if (answer !== undefined && answer.status !== 503) this.findings.push(`${path}: ${JSON.stringify(answer)}`);
      this.interrupted++;
      await setTimeout(PAUSE);
    }
    throw new Error(`${path}: no answer for ${PATIENCE / 1000} s.`);
  }
}
