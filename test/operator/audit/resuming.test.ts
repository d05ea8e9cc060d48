import { expect } from "chai";
import { appendFile, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ArgumentError } from "../../../packages/keyroot/src/errors.ts";
import { AuditState } from "../../../packages/operator/src/audit/state.ts";
import { serializeKeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import { fetchBlock } from "../../../packages/keyroot/src/ethereum/blocks.ts";
import { encodeAddMerkleTreeRoot } from "../../../packages/keyroot/src/registry/calldata.ts";
import { type RpcCall, rpcCaller } from "../../../packages/keyroot/src/transport/jsonRpc.ts";
import { PublicKeyRegistry__factory } from "../../../typechain-types/index.ts";
import { type Anvil, describeOnAnvil, startAnvil } from "../../../fixtures/anvil/anvil.ts";
import { receiptOf } from "../../../fixtures/receiptOf.ts";
import { sampleRecords } from "../../../fixtures/samples.ts";
import { serve } from "../../support/servers.ts";
import { closedAfterEach, failure } from "../../support/support.ts";
import { auditedWorld, LIMITS, outcomeOf } from "../../support/auditedWorld.ts";

const records = sampleRecords(6).sort((a, b) => (a.userID < b.userID ? -1 : 1));
const [one = never()] = records;
/** Somebody with another key. */
const two = records.find(({ pubKey }) => pubKey !== one.pubKey) ?? never();
const first = records.slice(0, 2);
const second = records.slice(2, 4);
const third = records.slice(4);
const PASSED = { verdict: "passed", codes: [] };
const NAME = "state.json";

describe("a resumed audit", function () {
  this.timeout(60_000);
  const world = auditedWorld();
  const closing = closedAfterEach();
  let firstRoot: string;
  let secondRoot: string;
  beforeEach(async () => {
    firstRoot = await world.publish(first);
    secondRoot = await world.publish(second);
  });

  const audit = async (changes: Parameters<typeof world.audit>[0] = {}, fresh = false) =>
    outcomeOf(await world.audit({ state: await world.openState(NAME, fresh), ...changes }));
  /** A file host that counts what it is asked for. */
  const countingHost = async (answers: (path: string) => boolean = () => true) => {
    const asked: string[] = [];
    const host = closing(
      await serve((request, response) => {
        const path = request.url ?? "";
        asked.push(path.slice(1, 65));
        if (!answers(path)) response.writeHead(503).end();
        else void fetch(`${world.fresh.merkleUrl}${path}`).then(async (got) => response.end(await got.text()));
      }),
    );
    return { asked, files: { merkleUrl: host.url, ...LIMITS } };
  };

  describe("after one that passed", () => {
    beforeEach(async () => {
      expect(await audit()).to.deep.equal(PASSED);
    });

    it("reads only newer blocks for events", async () => {
      const ranges: unknown[] = [];
      world.lie((method, params, truth) => {
        if (method === "eth_getLogs") ranges.push((params[0] as { fromBlock: string }).fromBlock);
        return truth(method, params);
      });
      const head = Number(await world.fresh.call("eth_blockNumber", []));
      await world.publish(third);
      expect(await audit()).to.deep.equal(PASSED);
      expect(ranges).to.deep.equal([`0x${(head + 1).toString(16)}`]);
    });

    it("reads every file anew, so that one that was changed or taken away since is found", async () => {
      await world.writeText(firstRoot, (await world.readText(firstRoot)).replace(one.pubKey, two.pubKey));
      await rm(world.pathOf(`${secondRoot}.json`));
      expect(await audit()).to.deep.equal({
        verdict: "damage",
        codes: ["FILE_INVALID ROOT_MISMATCH", "FILE_MISSING"],
      });
    });

    it("holds all users against the chain anew, so that one who was hidden since is found", async () => {
      await world.add(
        firstRoot,
        third.map(({ userID }) => userID),
      );
      expect(await audit()).to.deep.equal({ verdict: "damage", codes: ["USER_HIDDEN"] });
    });

    it("holds users of new files against those of old ones", async () => {
      await world.publish([{ ...two, userID: one.userID }, ...third]);
      expect(await audit()).to.deep.equal({ verdict: "damage", codes: ["USER_SHADOWED", "USER_TWO_KEYS"] });
    });

    it("takes a file that is spelled in another way for the same one", async () => {
      await world.writeText(firstRoot, (await world.readText(firstRoot)).replace("{", "{ "));
      expect(await audit()).to.deep.equal(PASSED);
      expect(await audit()).to.deep.equal(PASSED);
    });
  });

  describe("after one that was interrupted", () => {
    it("leaves out the files that are done, and has no verdict until all are", async () => {
      const { files } = await countingHost((path) => !path.includes(secondRoot));
      expect(await audit({ files })).to.deep.equal({ verdict: "unanswered", codes: ["FILE_HOST_ERROR"] });
      const again = await countingHost();
      expect(await audit({ files: again.files })).to.deep.equal(PASSED);
      expect(again.asked).to.deep.equal([secondRoot]);
      const next = await countingHost();
      expect(await audit({ files: next.files })).to.deep.equal(PASSED);
      expect(next.asked.toSorted()).to.deep.equal([firstRoot, secondRoot].toSorted());
    });

    it("begins anew where it is asked to", async () => {
      const { files } = await countingHost((path) => !path.includes(secondRoot));
      await audit({ files });
      const again = await countingHost();
      expect(await audit({ files: again.files }, true)).to.deep.equal(PASSED);
      expect(again.asked.toSorted()).to.deep.equal([firstRoot, secondRoot].toSorted());
    });

    it("goes on where the endpoint failed in the middle", async () => {
      let reads = 0;
      world.lie((method, params, truth) => {
        // Only the reader of many users' roots is called without an address.
        if (method === "eth_call" && !Object.hasOwn(params[0] as object, "to") && ++reads > 1) throw new Error();
        return truth(method, params);
      });
      expect(await failure(audit())).to.include({ code: "RPC_ERROR" });
      world.lie((method, params, truth) => truth(method, params));
      const again = await countingHost();
      expect(await audit({ files: again.files })).to.deep.equal(PASSED);
      expect(again.asked).to.have.lengthOf(1);
    });
  });

  it("reads events again that an endpoint had withheld", async () => {
    world.lie(async (method, params, truth) => {
      const answer = await truth(method, params);
      return method === "eth_getLogs" ? (answer as unknown[]).slice(1) : answer;
    });
    expect(await audit()).to.deep.equal({ verdict: "damage", codes: ["LOG_WITHHELD"] });
    world.lie((method, params, truth) => truth(method, params));
    expect(await audit()).to.deep.equal(PASSED);
  });

  describe("refuses a state", () => {
    const path = () => join(world.folder, NAME);
    const refused = async () => {
      const error = await failure(world.openState(NAME));
      expect(error).to.be.an.instanceOf(ArgumentError).and.include({ code: "STATE_INVALID" });
      await world.openState(NAME, true);
    };
    beforeEach(async () => {
      expect(await audit()).to.deep.equal(PASSED);
    });

    for (const [what, from, to] of [
      ["in which a user is added to an event", /"addedCount":2/, '"addedCount":3'],
      ["in which the cursor is moved on", /"cursor":\[{"number":\d/, (all: string) => `${all}0`],
      ["in which the hash of a file is another", /"sha256":"./, '"sha256":"x'],
      ["of another version", "keyroot-audit-v1", "keyroot-audit-v2"],
      ["with another seal", /"seal":"..../, '"seal":"0000'],
      ["with a key that does not belong there", "{", '{"more":1,'],
      ["that is no JSON", /}$/, ""],
    ] as const) {
      it(what, async () => {
        const text = await readFile(path(), "utf8");
        const other = text.replace(from, to as string);
        expect(other).not.to.equal(text);
        await writeFile(path(), other);
        await refused();
      });
    }

    it("that is empty", async () => {
      await writeFile(path(), "");
      await refused();
    });

    it("whose users were changed, cut or removed", async () => {
      const users = `${path()}.users`;
      const bytes = await readFile(users);
      for (const spoil of [
        () => writeFile(users, bytes.with(3, (bytes[3] ?? 0) ^ 1)),
        () => truncate(users, bytes.length - 1),
        () => rm(users),
      ]) {
        await spoil();
        await refused();
        await writeFile(users, bytes);
      }
      await appendFile(users, "left there by a run that was interrupted");
      expect(await audit()).to.deep.equal(PASSED);
    });

    it("of another contract, or another chain", async () => {
      const { chainId, contract } = world.fresh;
      const { hash: genesis } = await fetchBlock(world.fresh.call, 0);
      const place = { chainId, genesis, contract: contract.toLowerCase() };
      for (const other of [{ chainId: 1 }, { genesis: `0x${"00".repeat(32)}` }, { contract: `0x${"12".repeat(20)}` }]) {
        expect(await failure(AuditState.open(path(), { ...place, ...other }))).to.include({ code: "STATE_INVALID" });
      }
    });
  });

  it("finds what a state with a good seal and other users hides", async () => {
    const state = await world.openState(NAME);
    const { cursor, events } = state;
    const text = await world.readText(firstRoot);
    const { hash } = await import("node:crypto");
    // As if the first file had held nobody.
    state.note(firstRoot, hash("sha256", text), new Uint8Array());
    state.finish(cursor && { cursor, events });
    await state.save();
    expect(await audit()).to.deep.equal({ verdict: "damage", codes: ["USER_HIDDEN"] });
  });
});

describeOnAnvil("a resumed audit of a chain that is reorganised", () => {
  const world = auditedWorld();
  const closing = closedAfterEach();
  let anvil: Anvil;
  let call: RpcCall;
  let contract: string;
  let owner: string;

  beforeEach(async () => {
    anvil = closing(await startAnvil());
    call = rpcCaller(anvil.url, { maxBytes: 2 ** 20, timeoutMs: 30_000 });
    [owner = never()] = (await call("eth_accounts", [])) as string[];
    const { data } = await new PublicKeyRegistry__factory().getDeployTransaction(owner);
    contract = (await send({ data })).contractAddress.toLowerCase();
  });

  /** Sends a transaction of the owner's, and waits for its block. */
  const send = async (transaction: object): Promise<{ contractAddress: string }> => {
    const hash = await call("eth_sendTransaction", [{ from: owner, gas: "0x400000", ...transaction }]);
    return receiptOf(call, hash);
  };

  const publish = async (some: typeof records) => {
    const root = await world.store(some.map(serializeKeyRecord));
    const userIDs = some.map(({ userID }) => userID);
    await send({ to: contract, data: encodeAddMerkleTreeRoot(root, userIDs) });
    return root;
  };
  const audit = async () => {
    const chainId = Number(await call("eth_chainId", []));
    const { hash: genesis } = await fetchBlock(call, 0);
    const state = await AuditState.open(join(world.folder, NAME), { chainId, genesis, contract });
    return outcomeOf(await world.audit({ call, contract, chainId, state }));
  };
  const mine = (count: number) => call("anvil_mine", [`0x${count.toString(16)}`]);

  it("tells of a root that is gone, once, and then judges what is there", async () => {
    await publish(first);
    await publish(second);
    expect(await audit()).to.deep.equal(PASSED);
    await call("anvil_rollback", [1]);
    await mine(2);
    expect(await audit()).to.deep.equal({ verdict: "damage", codes: ["ROOT_REORGANISED"] });
    expect(await audit()).to.deep.equal(PASSED);
  });

  it("gives a notice where the root has come into another block", async () => {
    await publish(first);
    await publish(second);
    expect(await audit()).to.deep.equal(PASSED);
    await call("anvil_rollback", [1]);
    await mine(1);
    await publish(second);
    expect(await audit()).to.deep.equal({ verdict: "passed", codes: ["CHAIN_REORGANISED"] });
    expect(await audit()).to.deep.equal(PASSED);
  });

  it("finds both where the chain was rewritten from its first root on", async () => {
    await publish(first);
    await publish(second);
    expect(await audit()).to.deep.equal(PASSED);
    await call("anvil_rollback", [2]);
    await mine(1);
    await publish(second);
    await mine(1);
    expect(await audit()).to.deep.equal({ verdict: "damage", codes: ["CHAIN_REORGANISED", "ROOT_REORGANISED"] });
  });
});

function never(): never {
  throw new Error("unreachable");
}
