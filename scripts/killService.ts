/**
 * Kills the partner service or its PostgreSQL by SIGKILL while partners and users are at work, starts it again, and reads
 * back over the API everything that was ever acknowledged: `node scripts/killService.ts [rounds]`, 20 by default. Exit 1
 * when anything is missing or different.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import pMap from "p-map";
import { makeKeyRecord } from "../src/identity/keyRecord.ts";
import { generateKeyPair } from "../src/identity/publicKey.ts";
import { userIDFromHex } from "../src/identity/userID.ts";
import { type Postgres, type PostgresOptions, runAt, startPostgres } from "../test/postgres/postgres.ts";
import {
  type Answer,
  type Keyroot,
  keyrootSettings,
  makePartner,
  type Partner,
  post,
  startKeyroot,
} from "../test/service/keyroot.ts";

type Configuration = Awaited<ReturnType<typeof keyrootSettings>>;

const WORKERS = 8;
const CONNECTIONS = 8;
const REGION = "us-west-2";
/** How long the others work before a kill, in ms: any moment in between. */
const WORK = { least: 500, most: 1500 };
/** How long to wait before a request without an answer is sent again, in ms. */
const PAUSE = 20;
/** How long to go on sending it, in ms: both are up again long before. */
const PATIENCE = 60_000;

/** What was acknowledged about a user, step by step. */
interface Acknowledged {
  hex: string;
  user?: Answer["body"];
  token?: string;
  key?: { pubKey: string; keyID: string };
}

/** What came of it. */
export interface Outcome {
  /** Which was killed how often. */
  kills: { service: number; postgres: number };
  acknowledged: { users: number; tokens: number; keys: number };
  /** Requests that got no answer, or that the service could not do then; each was sent again. */
  interrupted: number;
  /** Acknowledged and not there afterwards, and every other answer that should not be. There must be none. */
  findings: string[];
}

/**
 * Kills service and PostgreSQL by turns, so many times in all, under load; and reads everything back after each kill.
 * @param settings of PostgreSQL, other than its own
 */
export async function killUnderLoad(rounds: number, settings: PostgresOptions["settings"] = {}): Promise<Outcome> {
  await using cleanup = new AsyncDisposableStack();
  const postgres = await startPostgres({ fsync: true, settings });
  cleanup.defer(() => postgres.stop());
  const configuration = await keyrootSettings(postgres, CONNECTIONS);
  const world = new World(configuration, postgres, await startKeyroot(configuration));
  cleanup.use(world);
  await world.open();
  // A checkpoint writes what was set up, whatever the settings.
  await runAt(postgres.url, "CHECKPOINT");
  for (let round = 0; round < rounds; round++) {
    await world.killOnce(round % 2 === 0 ? "service" : "postgres");
    await world.readBack();
  }
  return world.outcome;
}

/** A service over its PostgreSQL, a partner's users who are at work with it, and what they know. */
class World implements AsyncDisposable {
  readonly outcome: Outcome = {
    kills: { service: 0, postgres: 0 },
    acknowledged: { users: 0, tokens: 0, keys: 0 },
    interrupted: 0,
    findings: [],
  };
  readonly #configuration: Configuration;
  readonly #postgres: Postgres;
  /** Any keys will do: a fresh pair for each user takes a millisecond, and the service does not compare users' keys. */
  readonly #publicKeys = Array.from({ length: 5 }, () => generateKeyPair().publicKey);
  readonly #users: Acknowledged[] = [];
  #service: Keyroot;
  #partner: Partner = { bizID: "", jwt: "" };

  constructor(configuration: Configuration, postgres: Postgres, service: Keyroot) {
    this.#configuration = configuration;
    this.#postgres = postgres;
    this.#service = service;
  }

  async open(): Promise<void> {
    this.#partner = await makePartner(this.#service.origin, this.#configuration.KEYROOT_ADMIN_TOKEN);
  }

  /** Lets everybody work, kills one of the two in the middle of it, starts it again, and lets everybody come to an end. */
  async killOnce(what: "service" | "postgres"): Promise<void> {
    let closing = false;
    const worker = async () => {
      while (!closing) await this.#provision();
    };
    const working = Promise.all(Array.from({ length: WORKERS }, worker));
    await setTimeout(WORK.least + Math.random() * (WORK.most - WORK.least));
    if (what === "service") {
      await this.#service.kill();
      this.#service = await startKeyroot(this.#configuration);
    } else {
      await this.#postgres.kill();
      await this.#postgres.restart();
    }
    this.outcome.kills[what]++;
    closing = true;
    await working;
  }

  /** Asks the API for everything that was ever acknowledged. */
  async readBack(): Promise<void> {
    const { findings } = this.outcome;
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
        const { pubKey, keyID, state } = body;
        if (!isDeepStrictEqual({ pubKey, keyID, state }, { ...key, state: "pending" }))
          findings.push(`key of ${hex}: ${JSON.stringify(body)}`);
      },
      { concurrency: WORKERS },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service[Symbol.asyncDispose]();
  }

  /** A user's way: created, given a token, which is exchanged, and a key registered with what it was exchanged for. */
  async #provision(): Promise<void> {
    const known: Acknowledged = { hex: randomBytes(20).toString("hex") };
    this.#users.push(known);
    const { hex: user_id_hex } = known;
    const { acknowledged } = this.outcome;
    known.user = (await this.#partnerAsks("users/create", { user_id_hex, region: REGION })).body;
    acknowledged.users++;
    const idempotencyKey = randomUUID();
    const made = await this.#partnerAsks("users/createRefreshToken", { user_id_hex, context: "app" }, idempotencyKey);
    known.token = String(made.body["token"]);
    acknowledged.tokens++;
    const { bizID: biz_id } = this.#partner;
    const { body } = await this.#ask("/v1/public/auth/jwt", { biz_id, token: known.token });
    const publicKey = this.#publicKeys[acknowledged.keys % this.#publicKeys.length] ?? new Uint8Array();
    const { pubKey, keyID } = makeKeyRecord(userIDFromHex(user_id_hex), publicKey);
    const bearer = String(body["jwt"]);
    await this.#ask("/v1/authdUser/publicKey/register", { pubKey, keyID }, { bearer });
    known.key = { pubKey, keyID };
    acknowledged.keys++;
  }

  #partnerAsks(operation: string, body: object, idempotencyKey?: string): Promise<Answer> {
    const { jwt: bearer } = this.#partner;
    const headers = { bearer, ...(idempotencyKey !== undefined && { idempotencyKey }) };
    return this.#ask(`/v1/authdBizSrv/${operation}`, body, headers);
  }

  /** Asks until there is an answer, as a careful client does: all that is asked here may be asked again. */
  async #ask(path: string, body: object, headers?: Parameters<typeof post>[2]): Promise<Answer> {
    for (const started = Date.now(); Date.now() - started < PATIENCE;) {
      const answer = await post(this.#service.origin + path, body, headers).catch(() => undefined);
      if (answer !== undefined && answer.status < 500) {
        if (answer.status >= 400) this.outcome.findings.push(`${path}: ${JSON.stringify(answer)}`);
        return answer;
      }
      if (answer !== undefined && answer.status !== 503)
        this.outcome.findings.push(`${path}: ${JSON.stringify(answer)}`);
      this.outcome.interrupted++;
      await setTimeout(PAUSE);
    }
    throw new Error(`${path}: no answer for ${PATIENCE / 1000} s.`);
  }
}

if (import.meta.main) {
  const rounds = Number(process.argv[2] ?? 20);
  const start = performance.now();
  const { findings, ...outcome } = await killUnderLoad(rounds);
  const seconds = Math.round((performance.now() - start) / 100) / 10;
  process.stdout.write(`${JSON.stringify({ ...outcome, findings: findings.length, seconds }, null, 2)}\n`);
  for (const finding of findings) process.stdout.write(`${finding}\n`);
  process.exitCode = findings.length === 0 ? 0 : 1;
}
