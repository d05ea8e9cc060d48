import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import pMap from "p-map";
import {
  generateKeyPair,
  type KeyRecord,
  REGIONS,
  type Region,
  type UserID,
  userIDFromHex,
} from "keyroot/internal/identity";
import { answerChallenge, keyFieldsOf } from "../../../support/service/answerChallenge.ts";
import { type Answer, post, type RequestOptions, type TestPartner } from "../../../support/service/caller.ts";
import { ENDLESS_MS } from "../../../support/endless.ts";
import { isLarge } from "../../../support/testSize.ts";

/** Number of users that are read at the same time. */
const READERS = 8;
/** Time in ms before an unanswered request is sent again. A large test measures outages with it. */
const RETRY_MS = isLarge ? 20 : 100;
/**
 * The maximum time in ms between two checks of the number of registered keys. The time is random, so that faults occur
 * at any moment.
 */
const LOOK_MS = 50;

/** The data that the service acknowledged for one user. */
interface Acknowledged {
  hex: string;
  user?: Answer["body"];
  token?: string;
  key?: { public_key: string; key_id: string };
}

/** One request with its outcome, as the sender observed it. Times are in milliseconds since 1970. */
export interface Call {
  path: string;
  body: object;
  token: string | undefined;
  sent: number;
  ended: number;
  /** The response. Undefined if the connection broke. */
  response: Answer | undefined;
}

/** A load in progress. Disposing of it also ends it. */
export interface Load extends AsyncDisposable {
  /** Rejects if the load fails. Resolves only after `end`. */
  readonly working: Promise<unknown>;
  /** Waits until the workload has registered this many keys, or has a finding. @throws if the load fails */
  untilRegistered(keys: number): Promise<void>;
  /** Waits until the users in progress are provisioned. */
  end(): Promise<void>;
}

/** Creates users and registers keys while the service is being killed, and keeps everything that it acknowledged. */
export class UserWorkload {
  readonly acknowledged = { users: 0, tokens: 0, keys: 0 };
  /** Number of requests without a response or with a temporary error. Each was sent again. */
  interrupted = 0;
  /** Missing or different acknowledged data, and unexpected responses. */
  readonly findings: string[] = [];
  readonly #origin: () => string;
  readonly #partner: TestPartner;
  readonly #observe: (call: Call) => void;
  /**
   * Five keys for all users, because generating a key takes a millisecond and the service does not compare users' keys.
   */
  readonly #keyPairs = Array.from({ length: 5 }, () => generateKeyPair());
  readonly #users: Acknowledged[] = [];

  /**
   * @param origin returns the URL for the next request: `http://<address>:<port>`
   * @param observe receives each request with its outcome
   */
  constructor(origin: () => string, partner: TestPartner, observe: (call: Call) => void = () => undefined) {
    this.#origin = origin;
    this.#partner = partner;
    this.#observe = observe;
  }

  /**
   * Provisions users in both regions until the load is ended.
   * @param workers number of users that are provisioned at the same time
   * @param pauseMs pause of a worker between two users, in ms
   */
  start(workers: number, pauseMs = 0): Load {
    let ending = false;
    const work = async (first: number) => {
      for (let user = first; !ending; user++) {
        await this.#provision(REGIONS[user % REGIONS.length] ?? REGIONS[0]);
        if (pauseMs > 0) await sleep(pauseMs);
      }
    };
    const working = Promise.all(Array.from({ length: workers }, (_, index) => work(index)));
    // `end` reports a failure.
    working.catch(() => undefined);
    const end = async () => {
      ending = true;
      await working;
    };
    const untilRegistered = async (keys: number) => {
      while (this.acknowledged.keys < keys && this.findings.length === 0)
        await Promise.race([working, sleep(Math.random() * LOOK_MS)]);
    };
    return { working, untilRegistered, end, [Symbol.asyncDispose]: end };
  }

  /** Creates a user and its refresh token, exchanges the token, and registers a key. */
  async #provision(region: Region): Promise<void> {
    const known: Acknowledged = { hex: randomBytes(20).toString("hex") };
    this.#users.push(known);
    const isAlone = this.#users.length % 2 === 0;
    const token = await (isAlone ? this.#create(known, region) : this.#createInList(known, region));
    if (token === undefined) return;
    const exchanged = await this.#exchange(token);
    const accessToken = String(exchanged.body["jwt"]);
    const key = await this.#register(this.#keyPairs[this.acknowledged.keys % this.#keyPairs.length], accessToken);
    if (key === undefined) return;
    known.key = key;
    this.acknowledged.keys++;
  }

  /**
   * Creates a user and its token with separate requests.
   * @returns the token, or undefined after an unexpected response, which is a finding
   */
  async #create(known: Acknowledged, region: Region): Promise<string | undefined> {
    const { hex: user_id_hex } = known;
    const user = await this.#sendAsPartner("users/create", { user_id_hex, region });
    if (user.status >= 400) return undefined;
    known.user = user.body;
    this.acknowledged.users++;
    const body = { user_id_hex, context: "app" };
    const created = await this.#sendAsPartner("users/createRefreshToken", body, randomUUID());
    return created.status >= 400 ? undefined : this.#acknowledge(known, created.body["token"]);
  }

  /** Creates a user and its token in a list of users. */
  async #createInList(known: Acknowledged, region: Region): Promise<string | undefined> {
    const users = [{ user_id_hex: known.hex, region, context: "app" }];
    const { status, body } = await this.#sendAsPartner("users/createMany", { users }, randomUUID());
    if (status >= 400) return undefined;
    const [{ token, ...user } = {}] = body["users"] as Record<string, unknown>[];
    known.user = user;
    this.acknowledged.users++;
    return this.#acknowledge(known, token);
  }

  #acknowledge(known: Acknowledged, token: unknown): string {
    known.token = String(token);
    this.acknowledged.tokens++;
    return known.token;
  }

  /** Lists all the partner's events after a cursor, page by page. @returns the cursor after them */
  async readEvents(after?: string): Promise<string | undefined> {
    for (let cursor = after; ;) {
      const { status, body } = await this.#sendAsPartner("events/list", {
        limit: 100,
        ...(cursor !== undefined && { after: cursor }),
      });
      if (status >= 400) return cursor;
      cursor = String(body["cursor"]);
      if ((body["events"] as unknown[]).length === 0) return cursor;
    }
  }

  registered(): KeyRecord[] {
    return this.#users.flatMap(({ hex, key }) =>
      key === undefined ? [] : [{ userID: userIDFromHex(hex), pubKey: key.public_key, keyID: key.key_id }],
    );
  }

  /**
   * Reads all acknowledged data with the API, and adds a finding for each difference.
   * @param expected returns additional fields that the record of a user with a key must have
   */
  async readBack(expected: (userID: UserID) => Record<string, unknown>): Promise<void> {
    const { findings } = this;
    await pMap(
      this.#users,
      async ({ hex, user, token, key }) => {
        if (user === undefined) return;
        const found = await this.#sendAsPartner("users/get", { user_id_hex: hex });
        // Only the response to a creation contains the status. Only the response to `get` contains the time of
        // deactivation.
        if (!isDeepStrictEqual({ status: 201, ...found.body }, { ...user, deactivated: null }))
          findings.push(`user ${hex}: ${found.text}`);
        if (token === undefined) return;
        const exchanged = await this.#exchange(token);
        if (exchanged.status !== 200) findings.push(`token of ${hex}: ${exchanged.text}`);
        if (key === undefined) return;
        const accessToken = String(exchanged.body["jwt"]);
        const { body } = await this.#send("/v1/authdUser/record/get", {}, { token: accessToken });
        const wanted = { ...key, ...expected(userIDFromHex(hex)) };
        const actual = Object.fromEntries(Object.keys(wanted).map((name) => [name, body[name]]));
        if (!isDeepStrictEqual(actual, wanted)) findings.push(`key of ${hex}: ${JSON.stringify(body)}`);
      },
      { concurrency: READERS },
    );
  }

  /** @returns undefined if the service returns no challenge because it has lost the user */
  async #register(keys = generateKeyPair(), accessToken: string): Promise<Acknowledged["key"]> {
    const { public_key, key_id } = keyFieldsOf(keys);
    const { status, body } = await this.#send(
      "/v1/authdUser/publicKey/challenge",
      { public_key, key_id },
      { token: accessToken },
    );
    if (status >= 400) return undefined;
    await this.#send("/v1/authdUser/publicKey/register", answerChallenge(body, keys), { token: accessToken });
    return { public_key, key_id };
  }

  #exchange(token: string): Promise<Answer> {
    return this.#send("/v1/public/auth/jwt", { biz_id: this.#partner.bizID, token });
  }

  #sendAsPartner(operation: string, body: object, idempotencyKey?: string): Promise<Answer> {
    return this.#send(`/v1/authdBizSrv/${operation}`, body, { token: this.#partner.jwt, idempotencyKey });
  }

  /** Repeats a request until the response is not temporary. All requests in this file are idempotent. */
  async #send(path: string, body: object, options: RequestOptions = {}): Promise<Answer> {
    for (const started = Date.now(); Date.now() - started < ENDLESS_MS;) {
      const sent = Date.now();
      const response = await post(this.#origin() + path, body, options).catch(() => undefined);
      this.#observe({ path, body, token: options.token, sent, ended: Date.now(), response });
      if (response !== undefined && response.status !== 503) {
        if (response.status >= 400) this.findings.push(`${path}: ${response.status} ${response.text}`);
        return response;
      }
      this.interrupted++;
      await sleep(RETRY_MS);
    }
    throw new Error(`${path}: no response within ${ENDLESS_MS / 1000} s.`);
  }
}
