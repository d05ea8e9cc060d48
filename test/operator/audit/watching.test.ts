import { expect } from "chai";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { poll, type PollOptions, type PollResult } from "../../../packages/operator/src/audit/poll.ts";
import { watch, type WatchEvent, type WatchOptions } from "../../../packages/operator/src/audit/watch.ts";
import { WatchState } from "../../../packages/operator/src/audit/watchState.ts";
import { checkWebhook, postWebhook } from "../../../packages/operator/src/audit/webhook.ts";
import { ArgumentError } from "../../../packages/keyroot/src/errors.ts";
import { fetchBlock } from "../../../packages/keyroot/src/ethereum/blocks.ts";
import { rpcCaller } from "../../../packages/keyroot/src/transport/jsonRpc.ts";
import { sampleRecords } from "../../../fixtures/samples.ts";
import { serve } from "../../support/servers.ts";
import { closedAfterEach, failure } from "../../support/support.ts";
import { auditedWorld, LIMITS } from "../../support/auditedWorld.ts";
import { writeOldWatchState } from "../../support/oldStates.ts";

const records = sampleRecords(5);
const [mine = never(), ...others] = records;
const other = others.find(({ pubKey }) => pubKey !== mine.pubKey) ?? never();
const NAME = "watch.sqlite";

describe("a watch", function () {
  this.timeout(60_000);
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
    call: rpcCaller(world.url, LIMITS),
    chainId: world.fresh.chainId,
    contract: world.fresh.contract,
    files: { merkleUrl: world.fresh.merkleUrl, ...LIMITS },
    users: [mine],
    tag: "latest",
    state,
    readOwnFiles: true,
    ...changes,
  });
  const pollAgain = (changes?: Partial<PollOptions>) => poll(options(changes));
  const codesOf = ({ findings }: PollResult) =>
    findings.map(({ code, detail }) => (detail === undefined ? code : `${code} ${detail}`)).sort();

  describe("poll", () => {
    it("audits new roots, and reports when a watched key is published", async () => {
      expect(await pollAgain()).to.deep.include({ added: [], published: [], findings: [] });
      const otherRoot = await world.publish(others);
      const first = await pollAgain();
      expect(first.added.map(({ root }) => root)).to.deep.equal([otherRoot]);
      expect([first.published, first.findings]).to.deep.equal([[], []]);
      const root = await world.publish([mine]);
      expect((await pollAgain()).published).to.deep.equal([{ userID: mine.userID, root }]);
      expect(await pollAgain()).to.deep.include({ added: [], published: [], findings: [] });
    });

    it("begins at a given block", async () => {
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

  it("remembers the roots of a state of version 0.1.0", async () => {
    const { chainId, contract, call } = world.fresh;
    const target = { chainId, genesisHash: (await fetchBlock(call, 0)).hash, contract };
    const path = join(world.folder, NAME);
    const oldRoot = await world.publish(others);
    const { number, hash } = await fetchBlock(call, "latest");
    const roots = new Map([[mine.userID, oldRoot]]);
    await writeOldWatchState(path, target, { cursors: [{ number, hash }], roots, suspects: [oldRoot] });
    await rm(world.pathOf(`${oldRoot}.json`));
    await world.publish([mine]);
    using old = await openState(path);
    const result = await pollAgain({ state: old });
    expect(result.added).to.have.lengthOf(1);
    expect(codesOf(result)).to.deep.equal(["FILE_MISSING", "WATCHED_ROOT_CHANGED"]);
  });

  describe("alarms", () => {
    beforeEach(() => pollAgain());

    it("report a root with another key for the user", async () => {
      await world.publish([{ ...other, userID: mine.userID }]);
      expect(codesOf(await pollAgain())).to.deep.equal(["WATCHED_KEY_MISMATCH"]);
      expect(codesOf(await pollAgain())).to.deep.equal(["WATCHED_KEY_MISMATCH"]);
    });

    it("report another key for the user in a file, although they keep an earlier root", async () => {
      await world.publish([mine]);
      expect(codesOf(await pollAgain())).to.deep.equal([]);
      await world.publish([{ ...other, userID: mine.userID }, ...others.slice(1)]);
      expect(codesOf(await pollAgain())).to.deep.equal(["WATCHED_KEY_MISMATCH"]);
    });

    it("report a root for the user whose file does not contain them", async () => {
      const root = await world.publish(others);
      await world.add(root, [mine.userID]);
      expect(codesOf(await pollAgain())).to.deep.equal(["USER_NOT_IN_FILE"]);
    });

    it("report a root for the user that no log names", async () => {
      await world.publish([{ ...other, userID: mine.userID }]);
      world.lie((method, params, truth) => (method === "eth_getLogs" ? [] : truth(method, params)));
      expect(codesOf(await pollAgain())).to.deep.equal(["WATCHED_KEY_MISMATCH"]);
    });

    it("report a missing file until it is there", async () => {
      const root = await world.publish(others);
      const text = await world.readText(root);
      await rm(world.pathOf(`${root}.json`));
      expect(codesOf(await pollAgain())).to.deep.equal(["FILE_MISSING"]);
      expect(codesOf(await pollAgain())).to.deep.equal(["FILE_MISSING"]);
      await world.writeText(root, text);
      expect(codesOf(await pollAgain())).to.deep.equal([]);
    });

    it("report a file that is not valid", async () => {
      const root = await world.publish(others);
      await world.writeText(root, "{}");
      expect(codesOf(await pollAgain())).to.deep.equal(["FILE_INVALID FILE_SHAPE"]);
    });

    it("report the user's own file when it goes missing later", async () => {
      const root = await world.publish([mine]);
      expect(codesOf(await pollAgain())).to.deep.equal([]);
      await rm(world.pathOf(`${root}.json`));
      expect(codesOf(await pollAgain({ readOwnFiles: false }))).to.deep.equal([]);
      expect(codesOf(await pollAgain())).to.deep.equal(["FILE_MISSING"]);
    });

    it("report an endpoint that denies the user's root", async () => {
      await world.publish([mine]);
      await pollAgain();
      world.lie(async (method, params, truth) => {
        const answer = String(await truth(method, params));
        return method === "eth_call" ? answer.slice(0, -64) + "0".repeat(64) : truth(method, params);
      });
      expect(codesOf(await pollAgain())).to.deep.equal(["WATCHED_ROOT_CHANGED"]);
    });

    it("report nothing if the host fails: the next poll audits the same roots", async () => {
      await world.publish(others);
      const { url } = closing(await serve((_, response) => response.writeHead(503).end()));
      const files = { merkleUrl: url, ...LIMITS };
      expect(await failure(pollAgain({ files }))).to.include({ code: "FILE_HOST_ERROR" });
      expect((await pollAgain()).added).to.have.lengthOf(1);
    });

    it("and published keys are not lost if the host fails in the middle of a poll", async () => {
      const own = await world.publish([mine]);
      const root = await world.publish(others);
      const { url } = closing(
        await serve((request, response) => {
          if (request.url?.includes(root) === true) response.writeHead(503).end();
          else void fetch(`${world.fresh.merkleUrl}${request.url}`).then(async (got) => response.end(await got.text()));
        }),
      );
      const other = { userID: others[0]?.userID ?? "", pubKey: others[0]?.pubKey ?? "" };
      // Without a cursor, only the roots of the watched users are audited.
      const changes = { users: [mine, other], state: await openState() };
      const files = { merkleUrl: url, ...LIMITS };
      expect(await failure(pollAgain({ ...changes, files }))).to.include({ code: "FILE_HOST_ERROR" });
      expect((await pollAgain(changes)).published).to.deep.equal([
        { userID: mine.userID, root: own },
        { userID: other.userID, root },
      ]);
    });
  });

  describe("watch", () => {
    /** The events of a watch, until there are enough. */
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

    it("reports that an endpoint fails, and waits longer each time", async () => {
      let failures = 3;
      world.lie((method, params, truth) => {
        if (failures-- > 0) throw new Error();
        return truth(method, params);
      });
      const all = await events((all) => namesOf(all).includes("polled"));
      expect(namesOf(all)).to.deep.equal(["unavailable", "unavailable", "unavailable", "recovered", "polled"]);
      expect(all.slice(0, 3)).to.deep.equal([10, 20, 40].map((retryInMs) => ({ ...(all[0] as object), retryInMs })));
    });

    it("reports an alarm once", async () => {
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
      expect(namesOf(all)).to.deep.equal(["rootAdded", "alarm", "polled"]);
      const counts = { rootsAdded: 1, usersAdded: 1, watchedUsers: 1, publishedUsers: 0, alarms: 1, notices: 0 };
      expect(all.at(-1)).to.include(counts);
    });

    it("ends with an endpoint of another chain", async () => {
      expect(await failure(events(() => true, { chainId: 1 }))).to.include({ code: "CHAIN_ID_MISMATCH" });
    });
  });
});

describe("a webhook", () => {
  const closing = closedAfterEach();

  it("is accepted if its host is allowed", () => {
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
    it(`is refused ${what}, and not shown`, () => {
      expect(() => checkWebhook(url, [host]))
        .to.throw(ArgumentError)
        .that.satisfies(({ message }: Error) => !message.includes("/secret") && !message.includes('"secret"'));
    });
  }

  it("receives the message as JSON", async () => {
    let body = "";
    const { url } = closing(
      await serve((request, response) => {
        request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
        request.on("end", () => response.end());
      }),
    );
    await postWebhook(url, { event: "alarm" });
    expect(JSON.parse(body)).to.deep.equal({ event: "alarm" });
  });

  it("must return 2xx, and its redirects are not followed", async () => {
    const busy = closing(await serve((_, response) => response.writeHead(500).end()));
    const elsewhere = closing(await serve((_, response) => response.writeHead(307, { Location: busy.url }).end()));
    expect(await failure(postWebhook(`${busy.url}/secret`, {})))
      .to.include({ code: "WEBHOOK_ERROR" })
      .and.satisfies(({ message }: Error) => !message.includes("secret"));
    expect(await failure(postWebhook(elsewhere.url, {}))).to.include({ code: "REDIRECT_REFUSED" });
  });
});

function never(): never {
  throw new Error("unreachable");
}
