import { expect } from "chai";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type KeyrootError } from "keyroot";
import { randomUserID } from "keyroot/records";
import { PartnerClient } from "@keyroot/client/partner";
import type {
  ProvisionOptions,
  ProvisionOutcome,
  UserToProvision,
} from "../../../packages/client/src/partner/provision.ts";
import { ENDLESS_MS } from "../../support/endless.ts";
import { type FaultyProxy, faultyProxy } from "../../support/servers/faultyProxy.ts";
import { newPartner, type Partner } from "../../support/service/newPartner.ts";
import { serviceOnPostgres } from "../../support/service/support.ts";
import { all, closedAfterEach, failure } from "../../support/support.ts";

describe("provision", () => {
  const closing = closedAfterEach();
  const service = serviceOnPostgres();
  let partner: Partner;
  let proxy: FaultyProxy;
  let client: PartnerClient;

  beforeEach(async () => {
    partner = await newPartner(service);
    proxy = closing(await faultyProxy(service.url));
    client = new PartnerClient({ serviceUrl: proxy.url, ...partner, retries: 2, timeoutMs: ENDLESS_MS });
  });

  const list = (count: number): UserToProvision[] =>
    Array.from({ length: count }, (_, i) => ({
      userID: randomUserID(),
      region: i % 2 === 0 ? "us-west-2" : "eu-west-1",
      context: `device ${i % 3}`,
    }));

  /**
   * Provisions a list, and records each user's token in `tokens`. Throws a user's error unless `errors` collects it.
   */
  const run = async (
    users: Iterable<UserToProvision> | AsyncIterable<UserToProvision>,
    options: ProvisionOptions,
    tokens = new Map<string, string>(),
    errors?: KeyrootError[],
  ) => {
    for await (const outcome of client.provision(users, options)) {
      if ("token" in outcome) tokens.set(outcome.user.userID, outcome.token);
      else if (errors) errors.push(outcome.error);
      else throw outcome.error;
    }
    return tokens;
  };

  it("creates each user in its region with a refresh token", async () => {
    const users = list(12);
    const outcomes: ProvisionOutcome[] = [];
    for await (const outcome of client.provision(users, { runId: randomUUID() })) outcomes.push(outcome);
    expect(outcomes.map(({ user }) => user)).to.have.members(users);
    for (const outcome of outcomes) {
      if (!("token" in outcome)) throw outcome.error;
      const { user, shadowUser, token } = outcome;
      expect(shadowUser).to.include({ user_id: user.userID, region: user.region });
      expect(token).to.match(new RegExp(`^kru_${user.region}_`));
      const [made, ...others] = await all(client.listRefreshTokens(user.userID));
      expect(made).to.include({ context: user.context });
      expect(others).to.be.empty;
    }
  });

  it("creates one token per user if a run is interrupted repeatedly", async () => {
    const [users, runId] = [list(300), randomUUID()];
    const first = new Map<string, string>();

    // First interruption: the caller aborts.
    const controller = new AbortController();
    const onProgress = (done: number) => {
      if (done === 40) controller.abort();
    };
    const aborted = run(users, { runId, onProgress, concurrency: 30, signal: controller.signal }, first);
    expect(await failure(aborted)).to.include({ code: "ABORTED" });
    expect(first.size).to.equal(40);

    // Second interruption: the network fails during requests. Some responses are lost after the service has processed
    // the request.
    let requests = 0;
    proxy.disturb(() => (++requests > 15 ? "reset after" : requests % 5 === 0 ? "reset before" : undefined));
    expect(await failure(run(users, { runId, concurrency: 14 }, first))).to.include({ code: "UNREACHABLE" });
    expect(first.size).to.be.within(41, 150);
    proxy.disturb(() => undefined);

    // Third interruption: the caller stops iterating.
    for await (const outcome of client.provision(users, { runId, concurrency: 100 })) {
      if (!("token" in outcome)) throw outcome.error;
      first.set(outcome.user.userID, outcome.token);
      if (first.size >= 170) break;
    }

    const last = await run(users, { runId });
    expect(last.size).to.equal(300);
    for (const [userID, token] of first) expect(last.get(userID)).to.equal(token);
    expect(new Set(last.values()).size).to.equal(300);
    const ids = new Set<string>();
    for await (const { user_id } of client.listUsers({ pageSize: 1000 })) ids.add(user_id);
    expect(ids).to.deep.equal(new Set(users.map(({ userID }) => userID)));
    const tokens = await Promise.all(users.map(({ userID }) => all(client.listRefreshTokens(userID))));
    for (const ofUser of tokens) expect(ofUser).to.have.lengthOf(1);
  });

  it("creates new tokens in another run", async () => {
    const [users, runId] = [list(2), randomUUID()];
    const first = await run(users, { runId });
    const second = await run(users, { runId: randomUUID() });
    for (const { userID } of users) expect(second.get(userID)).not.to.equal(first.get(userID));
    service.ahead += 25 * 3_600_000;
    const errors: KeyrootError[] = [];
    expect((await run(users, { runId }, new Map(), errors)).size).to.equal(0);
    expect(errors.map(({ code }) => code)).to.deep.equal(["IDEMPOTENCY_KEY_REUSED", "IDEMPOTENCY_KEY_REUSED"]);
  });

  it("returns the same token for a user and context within a run", async () => {
    const [user, other] = list(2) as [UserToProvision, UserToProvision];
    const users = [user, { ...user, context: "another" }, { ...other, context: user.context }];
    const run = async (runId: string, concurrency: number) => {
      const before = proxy.seen.length;
      const tokens = new Map<UserToProvision, string>();
      for await (const outcome of client.provision(users, { runId, concurrency })) {
        if ("token" in outcome) tokens.set(outcome.user, outcome.token);
      }
      expect(new Set(tokens.values()).size).to.equal(3);
      const keys = proxy.seen.slice(before).flatMap(({ headers }) => headers["idempotency-key"] ?? []);
      return { tokens: users.map((user) => tokens.get(user)), keys };
    };
    const runId = randomUUID();
    const first = await run(runId, 1);
    expect(first.keys).to.have.lengthOf(3);
    for (const key of first.keys)
      expect(key)
        .to.match(/^[0-9a-f]{64}$/)
        .and.equal(first.keys[0]);
    for (const concurrency of [2, 6]) {
      const again = await run(runId, concurrency);
      expect(again.tokens).to.deep.equal(first.tokens);
      expect(new Set(again.keys)).to.deep.equal(new Set(first.keys));
    }
    const another = await run(randomUUID(), 6);
    expect(another.tokens).not.to.include.members(first.tokens);
    expect(another.keys).not.to.include(first.keys[0]);
  });

  it("sends lists of at most 500 users", async () => {
    expect((await run(list(1100), { runId: randomUUID() })).size).to.equal(1100);
    const sizes = proxy.to("/users/createMany").map(({ body }) => (JSON.parse(body) as { users: [] }).users.length);
    expect(sizes.sort((a, b) => a - b)).to.deep.equal([100, 500, 500]);
  });

  it("sends users before a slow list returns the next user", async () => {
    const [first, second, third] = list(3) as [UserToProvision, UserToProvision, UserToProvision];
    const taken = Promise.withResolvers<undefined>();
    async function* slow() {
      yield first;
      yield second;
      await taken.promise;
      yield third;
    }
    const seen: UserToProvision[] = [];
    for await (const { user } of client.provision(slow(), { runId: randomUUID() })) {
      seen.push(user);
      if (seen.length === 2) taken.resolve(undefined);
    }
    expect(seen).to.deep.equal([first, second, third]);
  });

  it("returns an error for a rejected user and continues", async () => {
    const [good, taken, ...rest] = list(6) as [UserToProvision, UserToProvision, ...UserToProvision[]];
    const other = new PartnerClient({ serviceUrl: service.url, ...(await newPartner(service)) });
    await other.createUser(taken.userID, "us-west-2");
    const bad = [
      { userID: "nobody", region: "us-west-2", context: "c" },
      { userID: randomUserID(), region: "mars", context: "c" },
      { userID: randomUserID(), region: "us-west-2", context: "x".repeat(201) },
      { userID: randomUserID(), region: "us-west-2" },
      undefined,
    ] as UserToProvision[];
    const progress: number[][] = [];
    const errors: KeyrootError[] = [];
    const onProgress = (...counts: number[]) => progress.push(counts);
    const tokens = await run([good, ...bad, taken, ...rest], { runId: randomUUID(), onProgress }, new Map(), errors);
    expect([...tokens.keys()]).to.have.members([good, ...rest].map(({ userID }) => userID));
    const codes = [
      "USER_ID_INVALID",
      "REGION_UNKNOWN",
      "TEXT_TOO_LONG",
      "ARGUMENT_INVALID",
      "ARGUMENT_INVALID",
      "USER_ID_TAKEN",
    ];
    expect(errors.map(({ code }) => code))
      .to.have.members(codes)
      .and.have.lengthOf(6);
    expect(progress).to.have.lengthOf(11);
    expect(progress.at(-1)).to.deep.equal([11, 6]);
  });

  it("stops after the server token is revoked", async () => {
    const [token] = await all(client.listServerTokens());
    let created = 0;
    proxy.disturb(async ({ path }) => {
      if (path.endsWith("/users/createMany") && ++created === 5) await client.revokeServerToken(token?.token_id ?? "");
      return undefined;
    });
    const refused: KeyrootError[] = [];
    const error = await failure(run(list(200), { runId: randomUUID(), concurrency: 20 }, new Map(), refused));
    expect(error).to.include({ name: "ServiceError", status: 401 });
    expect(refused).to.be.empty;
    // The whole list needs 20 requests.
    expect(created).to.be.below(20);
  });

  it("stops at the partner's user limit", async () => {
    await service.admin("/v1/admin/partners/setUserLimit", { biz_id: partner.bizID, user_limit: 7 });
    const users = list(12);
    const tokens = new Map<string, string>();
    const error = await failure(run(users, { runId: randomUUID() }, tokens));
    expect(error).to.include({ name: "ServiceError", code: "USER_LIMIT_REACHED", status: 409 });
    expect([...tokens.keys()]).to.deep.equal(users.slice(0, 7).map(({ userID }) => userID));
  });

  it("reads at most one request's users in advance", async () => {
    let [read, taken, under, most] = [0, 0, 0, 0];
    async function* endless() {
      for (;;) {
        read++;
        yield* await Promise.resolve(list(1));
      }
    }
    proxy.disturb(async ({ path, body }) => {
      if (path.endsWith("/jwt")) return undefined;
      const { length } = (JSON.parse(body) as { users: [] }).users;
      most = Math.max(most, (under += length));
      // The first requests wait until 6 users are under way. Later requests wait only 5 ms.
      do await sleep(5);
      while (most < 6);
      under -= length;
      return undefined;
    });
    for await (const outcome of client.provision(endless(), { runId: randomUUID(), concurrency: 6 })) {
      expect(outcome).to.have.property("token");
      expect(read - ++taken).to.be.at.most(9);
      if (taken === 50) break;
    }
    expect(most).to.equal(6);
  });

  it("sends no request after it has ended", async () => {
    let requests = 0;
    const counting: typeof fetch = (input, init) => {
      requests++;
      return fetch(input, init);
    };
    const counted = new PartnerClient({ serviceUrl: proxy.url, ...partner, fetch: counting });
    const outcomes = counted.provision(list(50), { runId: randomUUID(), concurrency: 4 });
    await outcomes.next();
    await outcomes.return();
    const before = requests;
    await sleep(200);
    expect(requests).to.equal(before);
  });

  it("ends after an abort even if the list never continues", async () => {
    async function* stuck() {
      yield* list(1);
      await new Promise(() => undefined);
    }
    const signal = AbortSignal.timeout(300);
    expect(await failure(run(stuck(), { runId: randomUUID(), signal }))).to.include({ code: "ABORTED" });
  });

  it("rethrows an error of the list", async () => {
    async function* broken() {
      yield* await Promise.resolve(list(1));
      throw new Error("The list is broken.");
    }
    expect(await failure(run(broken(), { runId: randomUUID() }))).to.have.property("message", "The list is broken.");
  });

  it("accepts an empty list", async () => {
    expect((await run([], { runId: randomUUID() })).size).to.equal(0);
    expect(proxy.seen).to.be.empty;
  });

  it("checks the run id and the concurrency before any request", async () => {
    for (const runId of ["", "import", "x".repeat(31), undefined, 7, "\ud800".repeat(32)]) {
      const error = await failure(run(list(1), { runId: runId as string }));
      expect(error).to.include({ name: "ArgumentError", code: "SECRET_TOO_SHORT" });
    }
    for (const concurrency of [0, -1, 1.5, 1001, Infinity]) {
      const error = await failure(run(list(1), { runId: randomUUID(), concurrency }));
      expect(error).to.include({ name: "ArgumentError", code: "ARGUMENT_INVALID" });
    }
    expect(proxy.seen).to.be.empty;
  });
});
