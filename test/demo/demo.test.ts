import { expect } from "chai";
import hre from "hardhat";
import { once } from "node:events";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { DemoError } from "../../demo/demoError.ts";
import { bytesToBase64 } from "../../packages/keyroot/src/bytes/base64.ts";
import type { KeyRecord } from "../../packages/keyroot/src/identity/serializedRecord.ts";
import { makeMerkleFile } from "../../packages/keyroot/src/merkle/file.ts";
import { FolderStore } from "../../packages/operator/src/publisher/files/folderStore.ts";
import { PartnerClient } from "../../packages/keyroot/src/partner.ts";
import { publish } from "../../packages/operator/src/publisher/publish.ts";
import { Registry } from "../../packages/operator/src/publisher/chain/registry.ts";
import { encodeGetMerkleTreeRoot } from "../../packages/keyroot/src/registry/calldata.ts";
import { stackPorts } from "../../packages/service/src/stack/stackPorts.ts";
import { startStack, type Stack } from "../../packages/service/src/stack/startStack.ts";
import type { StackFile } from "../../packages/operator/src/commands/stackFile.ts";
import type { AttackerConfig } from "../../demo/attacker.ts";
import { attackContact, type Victim } from "../../demo/attackContact.ts";
import { type Attack, ATTACKS } from "../../demo/attacks/keyAttacks.ts";
import { BEACON_ATTACKS } from "../../demo/attacks/beaconAttacks.ts";
import { type LineProcess, startProcess } from "../../demo/startProcess.ts";
import { startContactsApp } from "../../demo/startContactsApp.ts";
import { type DemoListener, type DemoResult, runDemo } from "../../demo/runDemo.ts";
import { exitCodeOf } from "../../packages/operator/src/commands/exitCodes.ts";
import { summaryOf } from "../../tasks/startOrDemo.ts";
import { rpcCaller } from "../../packages/keyroot/src/transport/jsonRpc.ts";
import { verifyPublicKey } from "../../packages/keyroot/src/verifier/verifyPublicKey.ts";
import { samplePublicKeys, sampleRecords } from "../support/samples.ts";
import { testAll } from "../support/testSize.ts";
import { failure, hold, never, portOf, rpc, temporaryFolder } from "../support/support.ts";
import {
  hardhat,
  npxHardhat,
  outcomeOf,
  program,
  type Running,
  signalGroup,
  stackFoldersIn,
  untilGroupIsGone,
} from "../support/processes/commandLine.ts";
import { LOCAL } from "../support/chain/local.ts";
import { ENDLESS_MS } from "../support/endless.ts";

const REJECTIONS = [
  ...ATTACKS.map(({ name, expectedCode, codeWithProof = expectedCode }) => ({ attack: name, code: codeWithProof })),
  ...BEACON_ATTACKS.map(({ name, expectedCode }) => ({ attack: name, code: expectedCode })),
];
const forever = new AbortController().signal;

describe("the demo", () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack(hre, { ports: stackPorts(0) });
  });
  after(() => stack.close());

  describe("runDemo", () => {
    it("rejects every attack after it published 25 users", async () => {
      const seen: string[] = [];
      const listener: DemoListener = {
        registrations: (attacks) => seen.push(...attacks.map(({ attack, outcome }) => `${attack}: ${outcome}`)),
        published: (batches) => seen.push(`published ${batches.map(({ users }) => users).join(" and ")}`),
        verified: (count) => seen.push(`verified ${count}`),
        rejected: (attack, _, code) => seen.push(`${attack}: ${code}`),
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
    });

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

  /** Publishes the keys of users in one batch. @returns its root */
  const publishBatch = async (records: readonly KeyRecord[]): Promise<string> => {
    const call = rpcCaller(stack.rpcUrl, { maxBytes: 2 ** 20, timeoutMs: ENDLESS_MS });
    const registry = await Registry.connect(call, stack.contract);
    const { published } = await publish(records, { ...LOCAL, registry, store: new FolderStore(stack.filesDir) });
    return published[0]?.root ?? never();
  };

  describe("attackContact", () => {
    let victim: Victim;
    before(async () => {
      const block = (await rpc(stack.rpcUrl, "eth_getBlockByNumber", ["latest", false])) as { hash: string };
      const otherRoot = await publishBatch(sampleRecords(2, 3));
      const records = sampleRecords(2, 4);
      await publishBatch(records);
      victim = { record: records[0] ?? never(), otherRoot, olderBlock: block.hash };
    });

    /** Runs the attacks, one of which is changed. */
    const attackWith = async (name: string, changes: Partial<Attack>) => {
      const attack = ATTACKS.find((candidate) => candidate.name === name) ?? never();
      const before = { ...attack };
      Object.assign(attack, changes);
      await using app = startContactsApp(stack, forever);
      try {
        return await failure(attackContact(stack, app, victim, undefined, forever));
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
      const error = await attackWith("swapped-key", { serverKey: undefined as never });
      expect(error).to.have.property("code", "DEMO_FAILED");
      expect(error).to.have.property("message", "The attack swapped-key was not rejected.");
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
      root = await publishBatch([user, ...others]);
      attacker = startProcess(new URL("../../demo/attacker.ts", import.meta.url), forever);
      const attackersKey = bytesToBase64(samplePublicKeys[3] ?? never());
      const config: AttackerConfig = {
        victim: user.userID,
        attackersKey,
        otherRoot: other.tree.root,
        ...{ rpcUrl, merkleUrl, beaconUrl: "", olderBlock: "" },
      };
      url = await attacker.request(JSON.stringify(config));
    });
    after(() => attacker[Symbol.asyncDispose]());

    it("forwards responses unchanged without an attack", async () => {
      const { contract, chainId } = stack;
      for (const { name } of ATTACKS.filter((attack) => !attack.rpc)) {
        for (const { name: fileName } of ATTACKS.filter((attack) => !attack.file)) {
          const place = { rpc: `${url}/${name}/rpc`, merkleUrl: `${url}/${fileName}/files`, contract, chainId };
          const verified = await verifyPublicKey(user.userID, { ...place, expectedPublicKey: user.pubKey });
          expect(verified.record).to.deep.equal(user);
        }
      }
    });

    it("changes the Merkle-tree file in each attack on files", async () => {
      const honest = await readFile(join(stack.filesDir, `${root}.json`), "utf8");
      for (const { name } of ATTACKS.filter((attack) => attack.file)) {
        const response = await fetch(`${url}/${name}/files/${root}.json`, { redirect: "manual" });
        if (name === "redirect") expect(response.status).to.equal(302);
        else expect((await response.text()) === honest, name).to.be.false;
      }
    });

    it("changes the endpoint's result in each attack on endpoints", async () => {
      const data = encodeGetMerkleTreeRoot(user.userID);
      const ask = async (address: string) => [
        await rpc(address, "eth_chainId"),
        await rpc(address, "eth_call", [{ to: stack.contract, data }, "latest"]),
      ];
      const honest = await ask(stack.rpcUrl);
      expect(honest[1]).to.equal(`0x${root}`);
      for (const { name, rpc: attacked } of ATTACKS) {
        const seen = await ask(`${url}/${name}/rpc`);
        if (attacked) expect(seen, name).to.not.deep.equal(honest);
        else expect(seen, name).to.deep.equal(honest);
      }
    });
  });

  describe("npm run demo", () => {
    const folder = temporaryFolder();

    it("prints every step and deletes its files", async () => {
      const { code, stdout, stderr } = await npxHardhat.run(["demo"], { env: { TMPDIR: folder.path } });
      expect([code, stderr]).to.deep.equal([0, ""]);
      for (const { attack, code: rejection } of REJECTIONS) {
        expect(stdout).to.match(new RegExp(`^ +${attack} .* ${rejection}$`, "m"));
      }
      expect(stdout)
        .to.contain("verified 25 of 25")
        .and.match(/\nThe demo succeeded\.\n$/);
      expect(await stackFoldersIn(folder.path)).to.be.empty;
    });

    const [interrupt, ...later] = [
      ["SIGINT", 130, "2  A partner"],
      ["SIGTERM", 143, "6  An attacker"],
    ] as const;
    // Each test runs a whole process. `npm test` runs only the first one.
    for (const [signal, code, line] of [interrupt, ...(testAll ? later : [])]) {
      it(`exits with code ${code} and deletes its files after ${signal} at "${line}…"`, async () => {
        const child = hardhat.start(["demo"], { TMPDIR: folder.path });
        const stderr = text(child.stderr);
        const lines: string[] = [];
        for await (const printed of createInterface({ input: child.stdout })) {
          lines.push(printed);
          // Ctrl-C also sends the signal to the whole process group.
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

  describe("npm start", () => {
    const folder = temporaryFolder();
    let child: Running;
    afterEach(() => {
      signalGroup(child, "SIGKILL");
    });

    // The README's test ends it with SIGTERM.
    it("frees its ports and deletes its files after Ctrl-C, which npm repeats", async () => {
      const env = { KEYROOT_STACK_FILE: join(folder.path, "stack", "stack.json"), TMPDIR: folder.path };
      child = npxHardhat.start(["demo", "--keep-running", "--port", "0", "--json"], env);
      const [line] = (await once(child.stdout, "data")) as [Buffer];
      const ready = JSON.parse(String(line)) as Omit<StackFile, "pid"> &
        DemoResult & { serviceUrl: string; explorerUrl: string; dashboardUrl: string; users: string[] };
      const place = ["rpcUrl", "merkleUrl", "filesDir", "contract", "chainId", "beaconUrl"];
      expect(ready).to.have.all.keys(
        ...place,
        "serviceUrl",
        "explorerUrl",
        "dashboardUrl",
        "bizID",
        "serverToken",
        "users",
      );
      expect(ready.users).to.have.lengthOf(25);
      const { serviceUrl, explorerUrl, bizID, serverToken } = ready;
      expect(await (await fetch(explorerUrl)).text()).to.contain(ready.contract);
      const { origin, pathname, hash } = new URL(ready.dashboardUrl);
      expect(origin).to.equal(serviceUrl.replace("127.0.0.1", "localhost"));
      expect(hash).to.match(/^#\/invitation\/[\w-]{43}$/);
      expect(await (await fetch(serviceUrl + pathname)).text()).to.contain("Keyroot dashboard");
      const known = new Set<string>();
      for await (const user of new PartnerClient({ serviceUrl, bizID, serverToken }).listUsers())
        known.add(user.user_id);
      expect(known).to.deep.equal(new Set(ready.users));
      expect((await stat(ready.filesDir)).isDirectory()).to.be.true;
      const { code, json } = await program.json(["verify", ready.users[24] ?? never()], { env });
      expect([code, json["contract"]]).to.deep.equal([0, ready.contract]);

      const ending = outcomeOf(child);
      signalGroup(child, "SIGINT");
      signalGroup(child, "SIGINT");
      expect(await ending).to.deep.equal({ code: 0, stdout: "", stderr: "" });
      await untilGroupIsGone(child);
      expect(await stackFoldersIn(folder.path)).to.be.empty;
      expect(await readdir(join(folder.path, "stack"))).to.be.empty;
      for (const address of [ready.rpcUrl, ready.merkleUrl, ready.beaconUrl ?? never(), serviceUrl, explorerUrl]) {
        const server = await hold(Number(new URL(address).port));
        expect(portOf(server)).to.equal(Number(new URL(address).port));
        server.close();
      }
    });
  });
});
