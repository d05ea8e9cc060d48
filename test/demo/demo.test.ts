import { expect } from "chai";
import hre from "hardhat";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { buildSite } from "@keyroot/web/build";
import { DemoError } from "../../demo/demoError.ts";
import { bytesToBase64 } from "../../packages/keyroot/src/bytes/base64.ts";
import { curve41417 } from "../../packages/keyroot/src/identity/keyTypes/curve41417.ts";
import type { KeyRecord } from "../../packages/keyroot/src/identity/serializedRecord.ts";
import { makeMerkleFile } from "../../packages/keyroot/src/merkle/file.ts";
import { FolderStore } from "../../packages/operator/src/publisher/files/folderStore.ts";
import { publish } from "../../packages/operator/src/publisher/publish.ts";
import { Registry } from "../../packages/operator/src/publisher/chain/registry.ts";
import { encodeGetMerkleTreeRoot } from "../../packages/keyroot/src/registry/calldata.ts";
import { stackPorts } from "../../packages/service/src/stack/stackPorts.ts";
import { startStack, type Stack } from "../../packages/service/src/stack/startStack.ts";
import type { AttackerConfig } from "../../demo/attacker.ts";
import { publishAccountVictims } from "../../demo/accountVictims.ts";
import { attackContact, startAttacker } from "../../demo/attackContact.ts";
import type { Attack, AttackContext } from "../../demo/attacks/attack.ts";
import { ATTACKS } from "../../demo/attacks/attacks.ts";
import type { LineProcess } from "../../demo/startProcess.ts";
import { startContactsApp } from "../../demo/startContactsApp.ts";
import { type DemoListener, runDemo } from "../../demo/runDemo.ts";
import { exitCodeOf } from "../../packages/operator/src/commands/exitCodes.ts";
import { openExplorer } from "@keyroot/operator/explorer";
import { openLinks } from "../../demo/links.ts";
import { readinessOf, summaryOf } from "../../tasks/startOrDemo.ts";
import { rpcCaller } from "../../packages/keyroot/src/transport/jsonRpc.ts";
import { RPC_LIMITS } from "../../packages/keyroot/src/transport/limits.ts";
import { fetchBlock } from "../../packages/keyroot/src/ethereum/blocks.ts";
import { samplePublicKeys, sampleRecords } from "../support/samples.ts";
import { everything } from "../support/everything.ts";
import { testAll } from "../support/testSize.ts";
import { failure, never, rpc, temporaryFolder } from "../support/support.ts";
import {
  hardhat,
  npxHardhat,
  signalGroup,
  stackFoldersIn,
  untilGroupIsGone,
} from "../support/processes/commandLine.ts";
import { LOCAL } from "../support/chain/local.ts";
import { ENDLESS_MS } from "../support/endless.ts";
import { verifyOnce } from "../support/verifier/verifyOnce.ts";

/** The key types besides the default one that can be published. */
const ALL_TYPES = ["x25519", "ed25519", "p256"] as const;
const REJECTIONS = ATTACKS.map(({ name, expectedCode }) => ({ attack: name, code: expectedCode }));
const attackersKey = bytesToBase64(samplePublicKeys[3] ?? never());
const forever = new AbortController().signal;

describe("the demo", () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack(hre, { ports: stackPorts(0) });
  });
  after(() => stack.close());

  describe("runDemo", () => {
    it("publishes 25 users and reports a rejection of every attack", async () => {
      const seen: string[] = [];
      const listener: DemoListener = {
        registrations: (attacks) => seen.push(...attacks.map(({ attack, outcome }) => `${attack}: ${outcome}`)),
        published: (batches) => seen.push(`published ${batches.map(({ users }) => users).join(" and ")}`),
        verified: (count) => seen.push(`verified ${count}`),
        rejected: ({ name }, code) => seen.push(`${name}: ${code}`),
      };
      await using result = await runDemo(stack, listener, forever);
      expect(result.records).to.have.lengthOf(25);
      const summary = summaryOf(stack, result);
      expect(summary).to.include({ published: 25, verified: 25, contract: stack.contract });
      expect(summary.rejected).to.deep.equal(REJECTIONS);
      expect(summary.roots).to.have.lengthOf(2);
      const attacks = REJECTIONS.map(({ attack, code }) => `${attack}: ${code}`);
      const onRegistration = ["foreign-key: POSSESSION_REFUSED", "hijacked-key: withdrawn in time"];
      expect(seen).to.deep.equal([...onRegistration, "published 12 and 13", "verified 25", ...attacks]);

      // The object that `npm start -- --json` prints.
      await buildSite();
      await using servers = new AsyncDisposableStack();
      const explorer = servers.use(await openExplorer(0));
      const links = await openLinks(stack, result, explorer, servers);
      const place = ["rpcUrl", "merkleUrl", "filesDir", "contract", "chainId", "keyType", "beaconUrl", "serviceUrl"];
      const ready = readinessOf(stack, result, links);
      expect(ready).to.have.all.keys(...place, "explorerUrl", "dashboardUrl", "bizID", "serverToken", "users");
      expect(ready.users).to.deep.equal(result.records.map(({ userID }) => userID));
    });

    // Each of these runs the whole demo. One type of keys signs, and the other does not.
    for (const keyType of everything ? ALL_TYPES : testAll ? (["x25519"] as const) : []) {
      it(`rejects every attack on a registry of ${keyType} keys`, async () => {
        await using other = new AsyncDisposableStack();
        const stack = other.adopt(await startStack(hre, { ports: stackPorts(0), keyType }), (it) => it.close());
        await using result = await runDemo(stack, {}, forever);
        expect(result.verified).to.equal(25);
        expect(result.rejected).to.deep.equal(REJECTIONS);
      });
    }

    it("stops when its signal aborts", async () => {
      const stopping = new AbortController();
      const seen: number[] = [];
      const listener: DemoListener = {
        published: () => {
          stopping.abort();
        },
        verified: (count) => seen.push(count),
      };
      expect(await failure(runDemo(stack, listener, stopping.signal))).to.include({ code: "ABORTED" });
      expect(seen).to.be.empty;
    });
  });

  /** Publishes users' keys in one batch. @returns the batch's root */
  const publishBatch = async (records: readonly KeyRecord[]): Promise<string> => {
    const call = rpcCaller(stack.rpcUrl, { maxBytes: 2 ** 20, timeoutMs: ENDLESS_MS });
    const registry = await Registry.connect(call, stack.contract);
    const { published } = await publish(records, { ...LOCAL, registry, store: new FolderStore(stack.filesDir) });
    return published[0]?.root ?? never();
  };

  describe("attackContact", () => {
    let context: AttackContext;
    before(async () => {
      const olderBlock = await fetchBlock(rpcCaller(stack.rpcUrl, RPC_LIMITS), "latest");
      const otherRoot = await publishBatch(sampleRecords(2, 3));
      const [victim = never(), ...others] = sampleRecords(2, 4);
      await publishBatch([victim, ...others]);
      const accounts = await publishAccountVictims(stack, stack.contract, curve41417);
      context = { keyType: curve41417, victim, otherRoot, olderBlock, attackersKey, accounts };
    });

    /** Runs the attacks with changes to one of them. */
    const attackWith = async (name: string, changes: Partial<Attack>) => {
      const attack = ATTACKS.find((candidate) => candidate.name === name) ?? never();
      const before = { ...attack };
      Object.assign(attack, changes);
      await using app = startContactsApp(stack, forever);
      await using attacker = startAttacker(forever);
      try {
        return await failure(attackContact(stack, { app, attacker }, context));
      } finally {
        Object.assign(attack, before);
      }
    };

    it("fails if an attack is rejected with an unexpected code", async () => {
      const error = await attackWith("swapped-record", { expectedCode: "KEY_MISMATCH" });
      expect(error).to.be.an.instanceof(DemoError).with.property("code", "DEMO_FAILED");
      expect(error).to.have.property("message").that.contains("swapped-record").and.contains("ROOT_MISMATCH");
      expect(exitCodeOf(error)).to.equal(1);
    });

    it("fails if an attack is not rejected", async () => {
      const error = await attackWith("swapped-key", { target: undefined as never });
      expect(error).to.have.property("code", "DEMO_FAILED");
      expect(error).to.have.property("message", "The app did not reject the attack swapped-key.");
    });
  });

  describe("the attacker", () => {
    let attacker: LineProcess;
    let url: string;
    let root: string;
    const [user = never(), ...others] = sampleRecords(5);
    const other = makeMerkleFile(sampleRecords(4, 2));

    before(async () => {
      const { rpcUrl, merkleUrl } = stack;
      const olderBlock = await fetchBlock(rpcCaller(rpcUrl, RPC_LIMITS), "latest");
      root = await publishBatch([user, ...others]);
      attacker = startAttacker(forever);
      const accounts = await publishAccountVictims(stack, stack.contract, curve41417);
      const context = { victim: user, attackersKey, otherRoot: other.tree.root, olderBlock, accounts };
      const config: AttackerConfig = { context, keyType: "curve41417", rpcUrl, merkleUrl, beaconUrl: "" };
      url = await attacker.request(JSON.stringify(config));
    });
    after(() => attacker[Symbol.asyncDispose]());

    it("forwards the responses that an attack does not change", async () => {
      const { contract, chainId } = stack;
      const honest = { rpc: stack.rpcUrl, merkleUrl: stack.merkleUrl, contract, chainId };
      const places = ATTACKS.flatMap(({ name, rpc, file, inventedFile }) => [
        ...(rpc ? [] : [{ ...honest, rpc: `${url}/${name}/rpc` }]),
        ...(file || inventedFile ? [] : [{ ...honest, merkleUrl: `${url}/${name}/files` }]),
      ]);
      for (const place of places) {
        const verified = await verifyOnce(user.userID, { ...place, expectedPublicKey: user.pubKey });
        expect(verified.record).to.deep.equal(user);
      }
    });

    it("changes the Merkle-tree file for each attack on files", async () => {
      const honest = await readFile(join(stack.filesDir, `${root}.json`), "utf8");
      for (const { name } of ATTACKS.filter(({ file, inventedFile }) => file ?? inventedFile)) {
        const response = await fetch(`${url}/${name}/files/${root}.json`, { redirect: "manual" });
        if (name === "redirect") expect(response.status).to.equal(302);
        else expect((await response.text()) === honest, name).to.be.false;
      }
    });

    it("changes the endpoint's result for each attack on endpoints", async () => {
      const data = encodeGetMerkleTreeRoot(user.userID);
      const ask = async (address: string) => [
        await rpc(address, "eth_chainId"),
        await rpc(address, "eth_call", [{ to: stack.contract, data }, "latest"]),
      ];
      const honest = await ask(stack.rpcUrl);
      expect(honest[1]).to.equal(`0x${root}`);
      // The other attacks change the answers about users with accounts.
      for (const { name, rpc: attacked } of ATTACKS.filter(({ call }) => !call)) {
        const seen = await ask(`${url}/${name}/rpc`);
        if (attacked) expect(seen, name).to.not.deep.equal(honest);
        else expect(seen, name).to.deep.equal(honest);
      }
    });
  });

  describe("npm run demo", () => {
    const folder = temporaryFolder();

    // The README's test checks the text of each step.
    (testAll ? it : it.skip)("prints one JSON object with --json, and deletes its files", async () => {
      const { code, stdout, stderr } = await npxHardhat.run(["demo", "--json"], { env: { TMPDIR: folder.path } });
      expect([code, stderr]).to.deep.equal([0, ""]);
      const summary = JSON.parse(stdout) as object;
      expect(summary).to.have.all.keys("published", "verified", "rejected", "registrations", "contract", "roots");
      expect(summary).to.deep.include({ published: 25, verified: 25, rejected: REJECTIONS });
      expect(await stackFoldersIn(folder.path)).to.be.empty;
    });

    const interruptions = [
      ["SIGINT", 130, "2  A partner"],
      ["SIGTERM", 143, "6  An attacker"],
    ] as const;
    // Each of these tests runs most of the demo, so only the full suite includes them.
    for (const [signal, code, line] of testAll ? interruptions : []) {
      it(`exits with code ${code} and deletes its files after ${signal} at "${line}…"`, async () => {
        const child = hardhat.start(["demo"], { TMPDIR: folder.path });
        const stderr = text(child.stderr);
        const lines: string[] = [];
        for await (const printed of createInterface({ input: child.stdout })) {
          lines.push(printed);
          // A terminal also sends the signal of Ctrl-C to the whole process group.
          if (printed.startsWith(line)) signalGroup(child, signal);
        }
        if (child.exitCode === null) await once(child, "exit");
        expect([child.exitCode, await stderr]).to.deep.equal([code, ""]);
        expect(lines.filter((printed) => printed.startsWith("Stopping"))).to.deep.equal(["Stopping the local stack."]);
        await untilGroupIsGone(child);
        expect(await stackFoldersIn(folder.path)).to.be.empty;
      });
    }
  });
});
