import { expect } from "chai";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type Look, look, type LookOptions } from "../../../packages/operator/src/audit/look.ts";
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

const records = sampleRecords(5);
const [mine = never(), ...others] = records;
const other = others.find(({ pubKey }) => pubKey !== mine.pubKey) ?? never();
const NAME = "watch.json";

describe("a watch", function () {
  this.timeout(60_000);
  const world = auditedWorld();
  const closing = closedAfterEach();
  let state: WatchState;
  beforeEach(async () => {
    state = await openState();
  });

  const openState = async (path?: string) => {
    const { hash: genesis } = await fetchBlock(world.fresh.call, 0);
    return WatchState.open(path, { chainId: world.fresh.chainId, genesis, contract: world.fresh.contract });
  };
  const options = (changes: Partial<LookOptions> = {}): LookOptions => ({
    call: rpcCaller(world.url, LIMITS),
    chainId: world.fresh.chainId,
    contract: world.fresh.contract,
    files: { merkleUrl: world.fresh.merkleUrl, ...LIMITS },
    users: [mine],
    tag: "latest",
    state,
    ownFiles: true,
    ...changes,
  });
  const lookAgain = (changes?: Partial<LookOptions>) => look(options(changes));
  const codesOf = ({ findings }: Look) =>
    findings.map(({ code, detail }) => (detail === undefined ? code : `${code} ${detail}`)).sort();

  describe("looks", () => {
    it("at what is new, and says when one's key is published", async () => {
      expect(await lookAgain()).to.deep.include({ added: [], published: [], findings: [] });
      const otherRoot = await world.publish(others);
      const first = await lookAgain();
      expect(first.added.map(({ root }) => root)).to.deep.equal([otherRoot]);
      expect([first.published, first.findings]).to.deep.equal([[], []]);
      const root = await world.publish([mine]);
      expect((await lookAgain()).published).to.deep.equal([{ userID: mine.userID, root }]);
      expect(await lookAgain()).to.deep.include({ added: [], published: [], findings: [] });
    });

    it("from an earlier block on, where it is told to", async () => {
      await world.publish(others);
      expect((await lookAgain({ fromBlock: 0 })).added).to.have.lengthOf(1);
    });

    it("where an earlier process ended", async () => {
      const path = join(world.folder, NAME);
      await lookAgain({ state: await openState(path) });
      await world.publish(others);
      expect((await lookAgain({ state: await openState(path) })).added).to.have.lengthOf(1);
      expect((await lookAgain({ state: await openState(path) })).added).to.deep.equal([]);
    });
  });

  describe("shouts", () => {
    beforeEach(() => lookAgain());

    it("at a root that is over another key for oneself", async () => {
      await world.publish([{ ...other, userID: mine.userID }]);
      expect(codesOf(await lookAgain())).to.deep.equal(["WATCHED_KEY_MISMATCH"]);
      expect(codesOf(await lookAgain())).to.deep.equal(["WATCHED_KEY_MISMATCH"]);
    });

    it("at another key for oneself in a file, though an earlier root stands", async () => {
      await world.publish([mine]);
      expect(codesOf(await lookAgain())).to.deep.equal([]);
      await world.publish([{ ...other, userID: mine.userID }, ...others.slice(1)]);
      expect(codesOf(await lookAgain())).to.deep.equal(["WATCHED_KEY_MISMATCH"]);
    });

    it("at a root for oneself whose file does not have one", async () => {
      const root = await world.publish(others);
      await world.add(root, [mine.userID]);
      expect(codesOf(await lookAgain())).to.deep.equal(["USER_NOT_IN_FILE"]);
    });

    it("at a root for oneself that no log tells of", async () => {
      await world.publish([{ ...other, userID: mine.userID }]);
      world.lie((method, params, truth) => (method === "eth_getLogs" ? [] : truth(method, params)));
      expect(codesOf(await lookAgain())).to.deep.equal(["WATCHED_KEY_MISMATCH"]);
    });

    it("at a file that is missing, until it is there", async () => {
      const root = await world.publish(others);
      const text = await world.readText(root);
      await rm(world.pathOf(`${root}.json`));
      expect(codesOf(await lookAgain())).to.deep.equal(["FILE_MISSING"]);
      expect(codesOf(await lookAgain())).to.deep.equal(["FILE_MISSING"]);
      await world.writeText(root, text);
      expect(codesOf(await lookAgain())).to.deep.equal([]);
    });

    it("at a file that is doctored", async () => {
      const root = await world.publish(others);
      await world.writeText(root, "{}");
      expect(codesOf(await lookAgain())).to.deep.equal(["FILE_INVALID FILE_SHAPE"]);
    });

    it("at one's own file when it goes missing later", async () => {
      const root = await world.publish([mine]);
      expect(codesOf(await lookAgain())).to.deep.equal([]);
      await rm(world.pathOf(`${root}.json`));
      expect(codesOf(await lookAgain({ ownFiles: false }))).to.deep.equal([]);
      expect(codesOf(await lookAgain())).to.deep.equal(["FILE_MISSING"]);
    });

    it("at an endpoint that denies one's root", async () => {
      await world.publish([mine]);
      await lookAgain();
      world.lie(async (method, params, truth) => {
        const answer = String(await truth(method, params));
        return method === "eth_call" ? answer.slice(0, -64) + "0".repeat(64) : truth(method, params);
      });
      expect(codesOf(await lookAgain())).to.deep.equal(["WATCHED_ROOT_CHANGED"]);
    });

    it("at nothing where the host does not answer: it looks at the same again", async () => {
      await world.publish(others);
      const { url } = closing(await serve((_, response) => response.writeHead(503).end()));
      const files = { merkleUrl: url, ...LIMITS };
      expect(await failure(lookAgain({ files }))).to.include({ code: "FILE_HOST_ERROR" });
      expect((await lookAgain()).added).to.have.lengthOf(1);
    });
  });

  describe("goes on", () => {
    /** The events of a watch, until there are enough. */
    const events = async (until: (events: WatchEvent[]) => boolean, changes: Partial<WatchOptions> = {}) => {
      const all: WatchEvent[] = [];
      const stopping = new AbortController();
      for await (const some of watch({ ...options(), everyMs: 5, signal: stopping.signal, ...changes })) {
        all.push(...some);
        if (until(all)) stopping.abort();
      }
      return all;
    };
    const namesOf = (all: readonly WatchEvent[]) => all.map(({ event }) => event);

    it("while an endpoint fails, says so, and waits longer each time", async () => {
      let failures = 3;
      world.lie((method, params, truth) => {
        if (failures-- > 0) throw new Error();
        return truth(method, params);
      });
      const all = await events((all) => namesOf(all).includes("looked"));
      expect(namesOf(all)).to.deep.equal(["no-answer", "no-answer", "no-answer", "answered", "looked"]);
      expect(all.slice(0, 3)).to.deep.equal([10, 20, 40].map((nextTryMs) => ({ ...(all[0] as object), nextTryMs })));
    });

    it("gives an alarm once", async () => {
      await look(options());
      await world.publish([{ ...other, userID: mine.userID }]);
      let looks = 0;
      const calls = rpcCaller(world.url, LIMITS);
      const all = await events(() => looks > 3, {
        call: (method, params) => {
          if (method === "eth_chainId") looks++;
          return calls(method, params);
        },
      });
      expect(namesOf(all)).to.deep.equal(["root", "alarm", "looked"]);
    });

    it("not with an endpoint of another chain", async () => {
      expect(await failure(events(() => true, { chainId: 1 }))).to.include({ code: "CHAIN_ID_MISMATCH" });
    });
  });
});

describe("a webhook", () => {
  const closing = closedAfterEach();

  it("is taken where its host is allowed", () => {
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
    ["on a host below the allowed one", "https://a.hooks.example/secret", "hooks.example"],
    ["without TLS", "http://hooks.example/secret", "hooks.example"],
    ["that only looks like this machine", "http://127.0.0.1.example/secret", "127.0.0.1.example"],
    ["with a password", "https://hooks.example@other.example/secret", "other.example"],
    ["that is none", "secret", "secret"],
  ] as const) {
    it(`is refused ${what}, and not shown`, () => {
      expect(() => checkWebhook(url, [host]))
        .to.throw(ArgumentError)
        .that.satisfies(({ message }: Error) => !message.includes("/secret") && !message.includes('"secret"'));
    });
  }

  it("gets the message as JSON", async () => {
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

  it("must take it, and is not followed elsewhere", async () => {
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
