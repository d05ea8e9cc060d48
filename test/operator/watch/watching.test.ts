import { expect } from "chai";
import { chmod, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { inspect } from "node:util";
import { Webhook } from "standardwebhooks";
import { ArgumentError } from "keyroot/internal/errors";
import { fetchBlock } from "keyroot/internal/ethereum";
import { rpcCaller } from "keyroot/internal/transport";
import { pollEvents, watch, WatchState } from "@keyroot/operator/audit";
import type { Finding, PollOptions, WatchEvent, WatchOptions } from "@keyroot/operator/audit";
import { checkWebhook, postWebhook } from "../../../packages/operator/src/watch/webhook.ts";
import { WebhookSecret } from "../../../packages/operator/src/http/webhookSecret.ts";
import { FAST_RETRY } from "../../support/chain/freshRegistry.ts";
import { lieAt } from "../../support/chain/lyingEndpoint.ts";
import { sampleRecords } from "../../support/samples.ts";
import { goneUrl, serve } from "../../support/servers/servers.ts";
import { closedAfterEach, failure, never, temporaryFolder } from "../../support/support.ts";
import { auditedWorld, LIMITS, poll } from "../../support/chain/auditedWorld.ts";

const records = sampleRecords(5);
const [mine = never(), ...others] = records;
const other = others.find(({ pubKey }) => pubKey !== mine.pubKey) ?? never();
const NAME = "watch.sqlite";

describe("a watch of a registry", () => {
  const world = auditedWorld();
  const closing = closedAfterEach();
  let state: WatchState;
  beforeEach(async () => {
    state = await openState();
  });

  const openState = async (path?: string) => {
    const { hash: genesisHash } = await fetchBlock(world.fresh.call, 0);
    return WatchState.open(path, { chainId: world.fresh.chainId, genesisHash, contract: world.fresh.contract });
  };
  const options = (changes: Partial<PollOptions> = {}): PollOptions => ({
    ...world.pollOptions(),
    ...{ users: [mine], state },
    ...changes,
  });
  const pollAgain = (changes?: Partial<PollOptions>) => poll(options(changes));
  /** Starts a file host that returns the status 503 for one file. */
  const hostWithout = async (root: string) => (await world.hostFiles((path) => !path.includes(root))).files;
  const suspectsOf = ({ files }: WatchState) =>
    [...files].filter(([, { isSuspect }]) => isSuspect).map(([root]) => root);
  const codesOf = ({ findings }: { findings: Finding[] }) =>
    findings.map(({ code, detail }) => (detail === undefined ? code : `${code} ${detail}`)).sort();

  describe("poll", () => {
    it("reports the publication of a watched key", async () => {
      expect(await pollAgain()).to.deep.include({ added: [], published: [], findings: [] });
      const otherRoot = await world.publish(others);
      const first = await pollAgain();
      expect(first.added.map(({ root }) => root)).to.deep.equal([otherRoot]);
      expect([first.published, first.findings]).to.deep.equal([[], []]);
      const root = await world.publish([mine]);
      expect((await pollAgain()).published).to.deep.equal([{ userID: mine.userID, root }]);
      expect(await pollAgain()).to.deep.include({ added: [], published: [], findings: [] });
    });

    it("begins at the given block", async () => {
      await world.publish(others);
      expect((await pollAgain({ fromBlock: 0 })).added).to.have.lengthOf(1);
    });

    it("begins where an earlier process ended", async () => {
      const path = join(world.folder, NAME);
      const pollWithFile = async () => {
        using state = await openState(path);
        return await pollAgain({ state });
      };
      await pollWithFile();
      await world.publish(others);
      expect((await pollWithFile()).added).to.have.lengthOf(1);
      expect((await pollWithFile()).added).to.deep.equal([]);
    });
  });

  describe("findings", () => {
    beforeEach(() => pollAgain());

    it("contain WATCHED_KEY_MISMATCH for a different key in the file of the user's root", async () => {
      await world.publish([{ ...other, userID: mine.userID }]);
      expect(codesOf(await pollAgain())).to.deep.equal(["WATCHED_KEY_MISMATCH"]);
      expect(codesOf(await pollAgain())).to.deep.equal(["WATCHED_KEY_MISMATCH"]);
    });

    it("contain WATCHED_KEY_MISMATCH for a different key in the file of a later root", async () => {
      await world.publish([mine]);
      expect(codesOf(await pollAgain())).to.deep.equal([]);
      await world.publish([{ ...other, userID: mine.userID }, ...others.slice(1)]);
      expect(codesOf(await pollAgain())).to.deep.equal(["WATCHED_KEY_MISMATCH"]);
    });

    it("contain USER_NOT_IN_FILE if the user is missing from the file", async () => {
      const root = await world.publish(others);
      await world.add(root, [mine.userID]);
      expect(codesOf(await pollAgain())).to.deep.equal(["USER_NOT_IN_FILE"]);
    });

    it("contain LOG_WITHHELD for a root without an event", async () => {
      await world.publish([{ ...other, userID: mine.userID }]);
      world.lie((method, params, truth) => (method === "eth_getLogs" ? [] : truth(method, params)));
      expect(codesOf(await pollAgain())).to.deep.equal(["LOG_WITHHELD", "WATCHED_KEY_MISMATCH"]);
    });

    it("contain FILE_MISSING in each poll until the file exists", async () => {
      const root = await world.publish(others);
      const text = await world.readText(root);
      await rm(world.pathOf(`${root}.json`));
      expect(codesOf(await pollAgain())).to.deep.equal(["FILE_MISSING"]);
      expect(codesOf(await pollAgain())).to.deep.equal(["FILE_MISSING"]);
      await world.writeText(root, text);
      expect(codesOf(await pollAgain())).to.deep.equal([]);
    });

    it("contain FILE_INVALID for an invalid file", async () => {
      const root = await world.publish(others);
      await world.writeText(root, "{}");
      expect(codesOf(await pollAgain())).to.deep.equal(["FILE_INVALID FILE_SHAPE"]);
    });

    it("contain FILE_MISSING if the user's own file was removed later", async () => {
      const root = await world.publish([mine]);
      expect(codesOf(await pollAgain())).to.deep.equal([]);
      await rm(world.pathOf(`${root}.json`));
      expect(codesOf(await pollAgain({ rereadAfterMs: 600_000 }))).to.deep.equal([]);
      expect(codesOf(await pollAgain())).to.deep.equal(["FILE_MISSING"]);
    });

    it("contain WATCHED_ROOT_CHANGED if the endpoint no longer returns the user's root", async () => {
      await world.publish([mine]);
      await pollAgain();
      world.lie(lieAt("eth_call", async (forward) => String(await forward()).slice(0, -64) + "0".repeat(64)));
      expect(codesOf(await pollAgain())).to.deep.equal(["LOG_EXCESS", "WATCHED_ROOT_CHANGED"]);
    });

    it("do not delay the report of a published key if another file is unavailable", async () => {
      const own = await world.publish([mine]);
      const root = await world.publish(others);
      const files = await hostWithout(root);
      const other = { userID: others[0]?.userID ?? "", pubKey: others[0]?.pubKey ?? "" };
      // Without a cursor, only the roots of the watched users are audited.
      const changes = { users: [mine, other], state: await openState() };
      const first = await pollAgain({ ...changes, files });
      expect(first.published).to.deep.equal([{ userID: mine.userID, root: own }]);
      expect(first.unavailable.map(({ root, code }) => [root, code])).to.deep.equal([[root, "FILE_HOST_ERROR"]]);
      expect((await pollAgain(changes)).published).to.deep.equal([{ userID: other.userID, root }]);
    });
  });

  describe("poll, with an unavailable file", () => {
    beforeEach(() => pollAgain());
    const MINUTE = 60_000;

    it("raises an alarm after the time limit", async () => {
      // The attacker publishes a false key, and the host does not return its file.
      const root = await world.publish([{ ...other, userID: mine.userID }]);
      const files = await hostWithout(root);
      const start = 1_700_000_000_000;
      const at = (ms: number) => pollAgain({ files, now: () => start + ms, unavailableAfterMs: 10 * MINUTE });
      const first = await at(0);
      expect(first.assigned).to.deep.equal([{ userID: mine.userID, root }]);
      expect(first.unavailable).to.have.lengthOf(1);
      expect(first.unavailable[0]).to.include({ root, code: "FILE_HOST_ERROR", since: start });
      expect(codesOf(first)).to.deep.equal([]);
      expect(codesOf(await at(10 * MINUTE - 1))).to.deep.equal([]);
      const late = await at(10 * MINUTE);
      expect(late.assigned).to.deep.equal([{ userID: mine.userID, root }]);
      expect(codesOf(late)).to.deep.equal(["FILE_UNAVAILABLE FILE_HOST_ERROR"]);
      expect(late.findings[0]).to.include({ root, userID: mine.userID });
      // The host is available again and returns the file.
      expect(codesOf(await pollAgain())).to.deep.equal(["WATCHED_KEY_MISMATCH"]);
    });

    it("counts the time across processes", async () => {
      const path = join(world.folder, NAME);
      const root = await world.publish([mine]);
      const files = await hostWithout(root);
      const at = async (now: number) => {
        using state = await openState(path);
        return codesOf(await pollAgain({ state, files, now: () => now }));
      };
      const start = 1_700_000_000_000;
      expect(await at(start)).to.deep.equal([]);
      expect(await at(start + 10 * MINUTE)).to.deep.equal(["FILE_UNAVAILABLE FILE_HOST_ERROR"]);
      using state = await openState(path);
      expect(codesOf(await pollAgain({ state }))).to.deep.equal([]);
      expect([...state.files.values()].map(({ dueSince }) => dueSince)).to.deep.equal([undefined]);
    });

    it("counts the time from zero again after the file was available", async () => {
      const root = await world.publish(others);
      const files = await hostWithout(root);
      expect(codesOf(await pollAgain({ files, now: () => 0 }))).to.deep.equal([]);
      expect(codesOf(await pollAgain())).to.deep.equal([]);
      await rm(world.pathOf(`${root}.json`));
      await world.publish([mine]);
      expect(codesOf(await pollAgain({ now: () => 20 * MINUTE }))).to.deep.equal([]);
    });

    it("continues to read the newest block and the other files", async () => {
      const root = await world.publish(others);
      const files = await hostWithout(root);
      const own = await world.publish([mine]);
      const result = await pollAgain({ files });
      expect(result.added).to.have.lengthOf(2);
      expect(result.published).to.deep.equal([{ userID: mine.userID, root: own }]);
      expect(state.cursors.at(-1)?.number).to.equal(result.block.number);
      expect(suspectsOf(state)).to.deep.equal([root]);
      expect(await pollAgain()).to.deep.include({ added: [], unavailable: [] });
      expect(suspectsOf(state)).to.deep.equal([]);
    });

    it("requests the user's file first and stops after three failures", async () => {
      const { files, requested } = await world.hostFiles(() => false);
      for (const record of others) await world.publish([record]);
      const own = await world.publish([mine]);
      const { unavailable } = await pollAgain({ files });
      // Each request is repeated.
      const attempts = 1 + FAST_RETRY.retries;
      expect(requested).to.have.lengthOf(3 * attempts);
      expect(requested.slice(0, attempts)).to.deep.equal(Array(attempts).fill(own));
      expect(unavailable).to.have.lengthOf(others.length + 1);
      expect(unavailable.at(-1)?.message).to.include("not requested");
    });

    it("treats a large, redirected or delayed file as unavailable", async () => {
      const root = await world.publish([{ ...other, userID: mine.userID }]);
      const large = { merkleUrl: world.fresh.merkleUrl, ...LIMITS, maxBytes: 10 };
      const redirect = closing(await serve((_, response) => response.writeHead(302, { Location: "/x" }).end()));
      const silent = closing(await serve(() => undefined));
      for (const [files, code] of [
        [large, "ANSWER_TOO_LARGE"],
        [{ merkleUrl: redirect.url, ...LIMITS }, "REDIRECT_REFUSED"],
        [{ merkleUrl: silent.url, ...LIMITS, timeoutMs: 50, retry: FAST_RETRY }, "TIMEOUT"],
        [{ merkleUrl: await goneUrl(), ...LIMITS, retry: FAST_RETRY }, "UNREACHABLE"],
      ] as const) {
        const result = await pollAgain({ files, unavailableAfterMs: 0 });
        expect(codesOf(result)).to.deep.equal([`FILE_UNAVAILABLE ${code}`]);
        expect(result.assigned).to.deep.equal([{ userID: mine.userID, root }]);
      }
    });

    it("counts a due file as unavailable if no time is left to read it, and begins the next poll with it", async () => {
      const own = await world.publish([mine]);
      const second = await world.publish([other]);
      const users = [mine, other];
      const result = await pollAgain({ users, maxFilesMs: 0, unavailableAfterMs: 0 });
      expect(result.published).to.deep.equal([{ userID: mine.userID, root: own }]);
      expect(codesOf(result)).to.deep.equal(["FILE_UNAVAILABLE TIMEOUT"]);
      expect(result.unavailable.map(({ root }) => root)).to.deep.equal([second]);
      const again = await pollAgain({ users, maxFilesMs: 0 });
      expect(again.published).to.deep.equal([{ userID: other.userID, root: second }]);
      expect(again.unavailable.map(({ root }) => root)).to.deep.equal([own]);
    });

    it("leaves the files of other users to the next poll if no time is left", async () => {
      const second = await world.publish([other]);
      const own = await world.publish([mine]);
      const result = await pollAgain({ maxFilesMs: 0, fromBlock: 0 });
      expect(result.published).to.deep.equal([{ userID: mine.userID, root: own }]);
      expect(result.unavailable.map(({ root }) => root)).to.deep.equal([second]);
      expect(suspectsOf(state)).to.deep.equal([second]);
      await pollAgain();
      expect(suspectsOf(state)).to.deep.equal([]);
    });

    it("reads every due file in turn if each poll has time for only one", async () => {
      const roots: string[] = [];
      for (const record of records) roots.push(await world.publish([record]));
      const { files, requested } = await world.hostFiles();
      for (let left = roots.length; left > 0; left--) await pollAgain({ users: records, files, maxFilesMs: 0 });
      expect(requested.toSorted()).to.deep.equal(roots.toSorted());
    });

    it("raises an alarm for a withheld file although slow files before it use up every poll", async () => {
      const roots: string[] = [];
      for (const record of records) roots.push(await world.publish([record]));
      for (let left = roots.length; left > 0; left--) await pollAgain({ users: records });
      const withheld = roots.at(-1) ?? never();
      const files = await hostWithout(withheld);
      const start = Date.now();
      const alarms = new Set<string | undefined>();
      const codes = new Set<string>();
      for (let minute = 10; minute < 30; minute++) {
        const now = () => start + minute * MINUTE;
        const result = await pollAgain({ users: records, files, maxFilesMs: 0, rereadAfterMs: 10 * MINUTE, now });
        for (const { root } of result.findings) alarms.add(root);
        for (const code of codesOf(result)) codes.add(code);
      }
      expect(codes).to.include("FILE_UNAVAILABLE FILE_HOST_ERROR");
      // The other files never wait for as long as the limit, because each poll reads the one that has waited longest.
      expect([...alarms]).to.deep.equal([withheld]);
    });
  });

  it("handles timers between two files", async () => {
    for (const record of records) await world.publish([record]);
    let [turns, isDone] = [0, false];
    const count = () => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    count();
    await pollAgain({ fromBlock: 0, files: { dir: world.fresh.filesDir, ...LIMITS } });
    isDone = true;
    expect(turns).to.be.greaterThan(records.length);
  });

  it("rejects a block that is too old, after it reports the user's root", async () => {
    await pollAgain();
    const root = await world.publish([mine]);
    const { timestamp } = await fetchBlock(world.fresh.call, "latest");
    const at = (seconds: number) => options({ maxAgeMs: 60_000, now: () => (timestamp + seconds) * 1000 });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const events of pollEvents(at(61))) seen.push(...events.map(({ event }) => event));
    })();
    expect(await failure(reading)).to.include({ code: "STALE_BLOCK" });
    expect(seen).to.deep.equal(["assigned"]);
    expect((await poll(at(60))).published).to.deep.equal([{ userID: mine.userID, root }]);
  });

  describe("watch", () => {
    /** Collects the events of a watch until the condition is met. */
    const events = async (until: (events: WatchEvent[]) => boolean, changes: Partial<WatchOptions> = {}) => {
      const all: WatchEvent[] = [];
      const stopping = new AbortController();
      for await (const some of watch({ ...options(), intervalMs: 5, signal: stopping.signal, ...changes })) {
        all.push(...some);
        if (until(all)) stopping.abort();
      }
      return all;
    };
    const namesOf = (all: readonly WatchEvent[]) => all.map(({ event }) => event);

    it("waits longer after each failure of the endpoint", async () => {
      // Each request is repeated.
      let failures = 3 * (1 + FAST_RETRY.retries);
      world.lie((method, params, truth) => {
        if (failures-- > 0) throw new Error();
        return truth(method, params);
      });
      const all = await events((all) => namesOf(all).includes("polled"));
      expect(namesOf(all)).to.deep.equal(["unavailable", "unavailable", "unavailable", "recovered", "polled"]);
      expect(all.slice(0, 3)).to.deep.equal([10, 20, 40].map((retryInMs) => ({ ...(all[0] as object), retryInMs })));
    });

    it("reports an alarm only once", async () => {
      await poll(options());
      await world.publish([{ ...other, userID: mine.userID }]);
      let polls = 0;
      const calls = rpcCaller(world.url, LIMITS);
      const all = await events(() => polls > 3, {
        call: (method, params) => {
          if (method === "eth_chainId") polls++;
          return calls(method, params);
        },
      });
      expect(namesOf(all)).to.deep.equal(["assigned", "rootAdded", "alarm", "polled"]);
      const counts = { rootsAdded: 1, usersAdded: 1, watchedUsers: 1, publishedUsers: 0, alarms: 1, notices: 0 };
      expect(all.at(-1)).to.include(counts);
    });

    it("reports an alarm again if it had ended in the meantime", async () => {
      await world.publish([mine]);
      await pollAgain();
      let polls = 0;
      // In these polls, the endpoint returns no root and no user count.
      const falsePolls = [1, 2, 4];
      world.lie(async (method, params, truth) => {
        if (method === "eth_chainId") polls++;
        const answer = await truth(method, params);
        if (method !== "eth_call" || !falsePolls.includes(polls)) return answer;
        return String(answer).slice(0, -64) + "0".repeat(64);
      });
      const all = await events(() => polls > 4);
      const codes = all.flatMap((event) => (event.event === "alarm" ? [event.code] : []));
      const once = ["LOG_EXCESS", "WATCHED_ROOT_CHANGED"];
      expect(codes.sort()).to.deep.equal([...once, ...once].sort());
    });

    it("reports the user's root before it reads a file", async () => {
      await poll(options());
      const root = await world.publish([mine]);
      let said: WatchEvent[] = [];
      const steps: WatchEvent[][] = [];
      const { url } = closing(
        await serve((request, response) => {
          said = steps.flat();
          void fetch(`${world.fresh.merkleUrl}${request.url}`).then(async (got) => response.end(await got.text()));
        }),
      );
      for await (const step of pollEvents(options({ files: { merkleUrl: url, ...LIMITS } }))) steps.push(step);
      expect(said).to.deep.include({ event: "assigned", userID: mine.userID, root });
      expect(namesOf(steps.flat())).to.deep.equal(["assigned", "rootAdded", "published", "polled"]);
    });

    it("reports the user's root although the endpoint returns no events", async () => {
      await poll(options());
      const root = await world.publish([mine]);
      world.lie(lieAt("eth_getLogs", () => Promise.reject(new Error())));
      const all = await events((all) => namesOf(all).includes("unavailable"));
      expect(all[0]).to.deep.equal({ event: "assigned", userID: mine.userID, root });
    });

    it("raises one alarm if the endpoint is unavailable for too long", async () => {
      world.lie(() => {
        throw new Error();
      });
      const all = await events((all) => all.filter(({ event }) => event === "unavailable").length === 4, {
        unavailableAfterMs: 1,
      });
      const alarms = all.filter(({ event }) => event === "alarm");
      expect(alarms).to.have.lengthOf(1);
      expect(alarms[0]).to.include({ code: "ENDPOINT_UNAVAILABLE", detail: "RPC_ERROR" });
    });

    it("raises one alarm if a file is unavailable for too long", async () => {
      await poll(options());
      const root = await world.publish([mine]);
      const { files, requested } = await world.hostFiles(() => false);
      const away = await events(() => requested.length > 2, { files, unavailableAfterMs: 0 });
      expect(namesOf(away)).to.deep.equal(["assigned", "rootAdded", "fileUnavailable", "alarm", "polled"]);
      expect(away[3]).to.include({ code: "FILE_UNAVAILABLE", root, userID: mine.userID });
    });

    it("ends if the endpoint belongs to a different chain", async () => {
      expect(await failure(events(() => true, { chainId: 1 }))).to.include({ code: "CHAIN_ID_MISMATCH" });
    });
  });
});

describe("alarm webhooks", () => {
  const closing = closedAfterEach();
  const folder = temporaryFolder();

  it("may have any URL with an allowed host", () => {
    const allowed: [string, string][] = [
      ["https://hooks.example/secret", "hooks.example"],
      ["https://hooks.example:8443/", "hooks.example:8443"],
      ["http://127.0.0.1:9/", "127.0.0.1:9"],
      ["http://localhost/", "localhost"],
    ];
    for (const [url, host] of allowed) expect(checkWebhook(url, ["other.example", host])).to.equal(url);
  });

  for (const [what, url, host] of [
    ["on another host", "https://hooks.example/secret", "other.example"],
    ["on another port", "https://hooks.example:8443/secret", "hooks.example"],
    ["on a subdomain of the allowed host", "https://a.hooks.example/secret", "hooks.example"],
    ["without TLS", "http://hooks.example/secret", "hooks.example"],
    ["that only looks like a loopback address", "http://127.0.0.1.example/secret", "127.0.0.1.example"],
    ["with a password", "https://hooks.example@other.example/secret", "other.example"],
    ["that is not a URL", "secret", "secret"],
  ] as const) {
    it(`are rejected for a URL ${what}`, () => {
      expect(() => checkWebhook(url, [host]))
        .to.throw(ArgumentError)
        .that.satisfies(({ message }: Error) => !message.includes("/secret") && !message.includes('"secret"'));
    });
  }

  /** A webhook receiver that responds with these statuses, and then with 200. */
  const receiver = async (...statuses: number[]) => {
    const received: { headers: Record<string, string>; body: string }[] = [];
    const { url } = closing(
      await serve((request, response) => {
        void textOf(request).then((body) => {
          received.push({ headers: request.headers as Record<string, string>, body });
          response.writeHead(statuses[received.length - 1] ?? 200).end();
        });
      }),
    );
    return { url, received };
  };
  const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

  it("are sent as JSON with an id and the time", async () => {
    const { url, received } = await receiver();
    await postWebhook(url, { event: "alarm" });
    const [{ headers, body } = never()] = received;
    expect(JSON.parse(body)).to.deep.equal({ event: "alarm" });
    expect(headers["webhook-id"]).to.match(/^msg_[0-9a-f-]{36}$/);
    expect(Number(headers["webhook-timestamp"])).to.be.closeTo(Math.floor(Date.now() / 1000), 60);
    expect(headers).not.to.have.property("webhook-signature");
  });

  it("are signed as Standard Webhooks specifies", async () => {
    const { url, received } = await receiver();
    await postWebhook(url, { event: "alarm", message: "ключ" }, { secret: new WebhookSecret(SECRET) });
    const [{ headers, body } = never()] = received;
    expect(new Webhook(SECRET).verify(body, headers)).to.deep.equal({ event: "alarm", message: "ключ" });
  });

  it("are sent again with the same id after a failure", async () => {
    const { url, received } = await receiver(503, 429);
    await postWebhook(url, { event: "alarm" }, { secret: new WebhookSecret(SECRET) });
    expect(received).to.have.lengthOf(3);
    expect(new Set(received.map(({ headers }) => headers["webhook-id"])).size).to.equal(1);
    for (const { headers, body } of received) new Webhook(SECRET).verify(body, headers);
  });

  it("need a secret of 24 to 64 bytes in a private file", async function () {
    const path = join(folder.path, "secret");
    await writeFile(path, `${SECRET}\n`, { mode: 0o600 });
    const secret = await WebhookSecret.read(path);
    expect(secret.sign("a", 1, "b")).to.equal(new WebhookSecret(SECRET).sign("a", 1, "b"));
    expect(inspect(secret, { depth: 10, showHidden: true }) + JSON.stringify(secret)).not.to.include("BwcH");
    for (const bad of ["", SECRET.slice(6), "whsec_", `whsec_${Buffer.alloc(23).toString("base64")}`, `${SECRET}!`]) {
      expect(() => new WebhookSecret(bad))
        .to.throw(ArgumentError)
        .that.satisfies(({ message }: Error) => !message.includes("BwcH"));
    }
    // Windows has no POSIX modes.
    if (process.platform === "win32") this.skip();
    await chmod(path, 0o644);
    expect(await failure(WebhookSecret.read(path))).to.include({ code: "FILE_PERMISSIONS" });
  });

  it("fail for every status except 2xx", async () => {
    const busy = closing(await serve((_, response) => response.writeHead(500).end()));
    const elsewhere = closing(await serve((_, response) => response.writeHead(307, { Location: busy.url }).end()));
    expect(await failure(postWebhook(`${busy.url}/secret`, {})))
      .to.include({ code: "WEBHOOK_ERROR" })
      .and.satisfies(({ message }: Error) => !message.includes("secret"));
    expect(await failure(postWebhook(elsewhere.url, {}))).to.include({ code: "REDIRECT_REFUSED" });
  });
});
