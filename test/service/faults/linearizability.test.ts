/**
 * Sends hundreds of concurrent calls about keys to two replicas, kills replicas and PostgreSQL, and checks that each
 * user's history is linearizable. `FAULTS=large npm test -- test/service/faults/linearizability.test.ts` checks more
 * than thirty times as many histories.
 */
import { expect } from "chai";
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { generateKeyPair, type KeyPair } from "keyroot/internal/identity";
import { startHardhat } from "../../support/chain/freshRegistry.ts";
import { describeFaults, FAULTS_TIMEOUT_MS, reported } from "../../support/faults.ts";
import { type KeyInput, keyModel, type KeyOutput, type KeyPhase } from "../../support/history/keyModel.ts";
import { linearize, type Operation } from "../../support/history/linearizable.ts";
import { startPostgres } from "../../support/postgres/postgres.ts";
import { answerChallenge, keyFieldsOf } from "../../support/service/answerChallenge.ts";
import { type Answer, Caller, post, type TestPartner } from "../../support/service/caller.ts";
import { serviceEnvironment, startServiceProcess } from "../../support/service/serviceProcess.ts";
import { deployForService } from "./load/deployForService.ts";
import { Replicas } from "./load/replicas.ts";
import { isLarge } from "../../support/testSize.ts";

const ROUNDS = isLarge ? 20 : 1;
const REPLICAS = 2;
const CONNECTIONS = 10;
const USERS = isLarge ? 40 : 24;
/** Number of concurrent callers per user: the partner and the user's apps. */
const CALLERS = 4;
const CALLS = 8;
/** Maximum number of calls in a round, which is reached if no fault prevents a call. */
const MOST_CALLS = USERS * CALLERS * CALLS;
const ACTIVE_USERS = 6;
/** Number of calls that are recorded in a round before a replica, and then PostgreSQL, is killed. */
const CALLS_BEFORE_FAULTS = [MOST_CALLS / 4, MOST_CALLS / 2] as const;
/**
 * The pause of a caller after a call without a result, in ms. If a fault is in progress, the pause begins when it ends.
 */
const DOWN_MS = 200;
const SCHEDULE = { every: 0.5, atLeast: 1 };

describeFaults("concurrent calls about a user's key", function () {
  this.timeout(FAULTS_TIMEOUT_MS);

  it("have a linearizable history while replicas and PostgreSQL are killed", async () => {
    const { calls, lost, idleFaults, notLinearizable } = await reported(run(false));
    expect(notLinearizable).to.deep.equal([]);
    expect(calls).to.be.above(MOST_CALLS / 2);
    expect(idleFaults).to.equal(0);
    expect(lost).to.be.above(0);
  });

  it("have a linearizable history while replicas also publish", async () => {
    const { calls, idleFaults, notLinearizable, phases } = await reported(run(true));
    expect(notLinearizable).to.deep.equal([]);
    expect(calls).to.be.above(MOST_CALLS / 2);
    expect(idleFaults).to.equal(0);
    expect(phases).to.include.members(["pending", "submitted"]);
  });
});

type History = Operation<KeyInput, KeyOutput>[];

interface Outcome {
  calls: number;
  /** Number of calls without a result. */
  lost: number;
  /** Number of faults after the last call of a round. */
  idleFaults: number;
  /** The phases of keys in the responses that callers received. */
  phases: string[];
  /** The histories of users that no order of the calls explains. */
  notLinearizable: History[];
}

interface Service {
  /** Returns the URL for the next call. */
  origin: () => string;
  /** Resolves when no fault is in progress. */
  fault: Promise<unknown>;
}

interface UserCaller {
  service: Service;
  partner: TestPartner;
  hex: string;
  /** The user's access token. */
  jwt: string;
  history: History;
}

async function run(publishes: boolean): Promise<Outcome> {
  await using cleanup = new AsyncDisposableStack();
  const postgres = await startPostgres({ fsync: true });
  cleanup.defer(() => postgres.stop());
  const environment = {
    ...(await serviceEnvironment(postgres, CONNECTIONS)),
    ...(publishes ? await publishingVariables(cleanup) : {}),
  };
  const start = () => startServiceProcess(environment, publishes ? SCHEDULE : undefined);
  const replicas = cleanup.use(await Replicas.start(REPLICAS, start));
  const service: Service = { origin: () => replicas.origin(), fault: Promise.resolve() };
  const partner = await new Caller(environment.KEYROOT_ADMIN_TOKEN, service.origin()).createPartner();
  const keys = Array.from({ length: 3 }, () => generateKeyPair());

  const histories: History[] = [];
  let publicationSeen = !publishes;
  let idleFaults = 0;
  for (let round = 0; round < ROUNDS || !publicationSeen; round++) {
    const callers: UserCaller[] = [];
    for (let i = 0; i < USERS; i++)
      callers.push({ service, partner, history: [], ...(await createUser(service.origin(), partner)) });
    const waiting = callers.values();
    const working = Promise.all(
      Array.from({ length: ACTIVE_USERS }, async () => {
        for (const caller of waiting)
          await Promise.all(Array.from({ length: CALLERS }, () => callRepeatedly(caller, keys)));
      }),
    );
    let isWorking = true;
    const ended = working.finally(() => (isWorking = false));
    const recorded = () => callers.reduce((sum, { history }) => sum + history.length, 0);
    const causeAfter = async (calls: number, cause: () => Promise<void>) => {
      while (isWorking && recorded() < calls) await Promise.race([ended, sleep(Math.random() * 20)]);
      if (!isWorking) idleFaults++;
      const fault = cause();
      service.fault = Promise.allSettled([fault]);
      await fault;
    };
    const [beforeReplica, beforePostgres] = CALLS_BEFORE_FAULTS;
    await causeAfter(beforeReplica, () => replicas.killNext());
    await causeAfter(beforePostgres, async () => {
      await postgres.kill();
      await postgres.restart();
    });
    await ended;
    for (const caller of callers) await readUntilAnswered(caller);
    histories.push(...callers.map(({ history }) => history));
    publicationSeen ||= callers.some(({ history }) => phasesOf(history).includes("submitted"));
  }
  const all = histories.flat();
  return {
    calls: all.length,
    lost: all.filter(({ output }) => output === undefined).length,
    idleFaults,
    phases: [...new Set(phasesOf(all))],
    notLinearizable: histories.filter((history) => linearize(history, keyModel) === undefined),
  };
}

function phasesOf(history: History): string[] {
  return history.flatMap(({ output }) => (output !== undefined && "state" in output ? [output.state] : []));
}

/** Returns the variables of a service that publishes on a separate chain. */
async function publishingVariables(cleanup: AsyncDisposableStack) {
  const chain = await startHardhat();
  cleanup.defer(() => chain.close());
  return (await deployForService(cleanup, chain.url)).variables;
}

async function createUser(origin: string, { bizID, jwt }: TestPartner): Promise<Pick<UserCaller, "hex" | "jwt">> {
  const hex = randomBytes(20).toString("hex");
  const users = [{ user_id_hex: hex, region: "us-west-2", context: "app" }];
  const idempotencyKey = randomBytes(16).toString("hex");
  const path = `${origin}/v1/authdBizSrv/users/createMany`;
  const { body } = await untilAnswered(() => post(path, { users }, { token: jwt, idempotencyKey }));
  const [{ token = "" } = {}] = body["users"] as { token?: string }[];
  const exchanged = await untilAnswered(() => post(`${origin}/v1/public/auth/jwt`, { biz_id: bizID, token }));
  return { hex, jwt: String(exchanged.body["jwt"]) };
}

/** Sends random calls about one user's key one after the other. */
async function callRepeatedly(caller: UserCaller, keys: readonly KeyPair[]): Promise<void> {
  for (let i = 0; i < CALLS; i++) {
    const pair = keys[Math.floor(Math.random() * keys.length)] ?? generateKeyPair();
    const kind = Math.random();
    if (kind < 0.4) await register(caller, pair);
    else if (kind < 0.7) await remove(caller, keyFieldsOf(pair).key_id);
    else await read(caller);
  }
}

async function register(caller: UserCaller, pair: KeyPair): Promise<void> {
  const fields = keyFieldsOf(pair);
  const input = { call: "register", keyID: fields.key_id } as const;
  const called = performance.now();
  const challenge = await asUser(caller, "publicKey/challenge", fields);
  // A refused challenge counts as a refused registration. Any other failure has no effect.
  if (challenge?.body["code"] === "PUBLIC_KEY_REGISTERED") record(caller, input, called, { result: "refused" });
  if (challenge?.status !== 200) return;
  const started = performance.now();
  const response = await asUser(caller, "publicKey/register", answerChallenge(challenge.body, pair));
  record(
    caller,
    input,
    started,
    outputOf(response, { result: "registered", state: response?.body["state"] as KeyPhase }),
  );
}

async function remove(caller: UserCaller, keyID: string): Promise<void> {
  const called = performance.now();
  const { partner, hex } = caller;
  const response =
    Math.random() < 0.5
      ? await asUser(caller, "publicKey/withdraw", { key_id: keyID })
      : await send(caller, "authdBizSrv/publicKeys/discard", { user_id_hex: hex, key_id: keyID }, partner);
  record(caller, { call: "remove", keyID }, called, outputOf(response, { result: "removed" }));
}

async function read(caller: UserCaller): Promise<boolean> {
  const called = performance.now();
  const response = await asUser(caller, "record/get", {});
  const { key_id: keyID, state } = (response?.body ?? {}) as { key_id?: string; state: KeyPhase };
  const output = outputOf(response, { result: "read", keyID, state });
  record(caller, { call: "read" }, called, output);
  return output !== "no effect" && output !== undefined;
}

async function readUntilAnswered(caller: UserCaller): Promise<void> {
  while (!(await read(caller))) await sleep(50);
}

function record(
  { history }: UserCaller,
  input: KeyInput,
  called: number,
  output: KeyOutput | "no effect" | undefined,
): void {
  if (output !== "no effect") history.push({ input, output, called, returned: performance.now() });
}

const REFUSALS: Readonly<Record<string, KeyOutput | "no effect">> = {
  PUBLIC_KEY_REGISTERED: { result: "refused" },
  PUBLIC_KEY_UNKNOWN: { result: "unknown" },
  PUBLIC_KEY_SUBMITTED: { result: "fixed" },
  POSSESSION_REFUSED: { result: "challenge refused" },
  // The key that needed no challenge was removed in the meantime.
  POSSESSION_REQUIRED: { result: "challenge refused" },
  RATE_LIMITED: "no effect",
};

/** @param done the result of a successful call @returns undefined for a call that may have had an effect */
function outputOf(response: Answer | undefined, done: KeyOutput): KeyOutput | "no effect" | undefined {
  if (response === undefined || response.status === 503) return undefined;
  if (response.status < 300) return done;
  const refusal = REFUSALS[String(response.body["code"])];
  if (refusal === undefined) throw new Error(`An unexpected response: ${response.text}`);
  return refusal;
}

function asUser(caller: UserCaller, operation: string, body: object): Promise<Answer | undefined> {
  return send(caller, `authdUser/${operation}`, body, caller);
}

/** @returns undefined if the connection broke */
async function send(
  { service }: UserCaller,
  operation: string,
  body: object,
  { jwt }: { jwt: string },
): Promise<Answer | undefined> {
  const response = await post(`${service.origin()}/v1/${operation}`, body, { token: jwt }).catch(() => undefined);
  if (response === undefined || response.status === 503) {
    // Otherwise, a round would run out of calls while a replica or PostgreSQL is down.
    await service.fault;
    await sleep(DOWN_MS);
  }
  return response;
}

async function untilAnswered(request: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const response = await request().catch(() => undefined);
    if (response !== undefined && response.status < 300) return response;
    await sleep(50);
  }
}
