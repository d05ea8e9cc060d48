import { expect } from "chai";
import hre from "hardhat";
import { once } from "node:events";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { InvariantError } from "../../packages/keyroot/src/errors.ts";
import { bytesToBase64 } from "../../packages/keyroot/src/bytes/base64.ts";
import { makeMerkleFile } from "../../packages/keyroot/src/merkle/file.ts";
import { FolderStore } from "../../packages/operator/src/publisher/files/folderStore.ts";
import { PartnerClient } from "../../packages/keyroot/src/partner.ts";
import { publish } from "../../packages/operator/src/publisher/publish.ts";
import { Registry } from "../../packages/operator/src/publisher/chain/registry.ts";
import { encodeGetMerkleTreeRoot } from "../../packages/keyroot/src/registry/calldata.ts";
import { stackPorts } from "../../packages/operator/src/stack/ports.ts";
import { startStack, type Stack } from "../../packages/operator/src/stack/stack.ts";
import type { StackNote } from "../../packages/operator/src/stack/stackFile.ts";
import type { AttackersOrders } from "../../demo/attacker.ts";
import { type Attack, ATTACKS } from "../../demo/attacks.ts";
import { type Interlocutor, startProcess } from "../../demo/startProcess.ts";
import { type Listener, tellStory, type Told } from "../../demo/demo.ts";
import { rpcCaller } from "../../packages/keyroot/src/transport/jsonRpc.ts";
import { verifyPublicKey } from "../../packages/keyroot/src/verifier/verifyPublicKey.ts";
import { samplePublicKeys, sampleRecords } from "../../fixtures/samples.ts";
import { failure, hold, portOf, rpc, temporaryFolder } from "../support/support.ts";
import {
  keyroot,
  keyrootJson,
  outcomeOf,
  type Running,
  signalGroup,
  stackFoldersIn,
  startKeyroot,
  untilGroupIsGone,
} from "../support/commandLine.ts";

const REFUSALS = ATTACKS.map(({ name, refusal }) => ({ attack: name, code: refusal }));
const forever = new AbortController().signal;

describe("the story", function () {
  this.timeout(60_000);

  describe("tellStory", () => {
    let stack: Stack;
    before(async () => {
      stack = await startStack(hre, { ports: stackPorts(0) });
    });
    after(() => stack.close());

    /** Tells the story with one attack changed. */
    const tellWith = async (name: string, changes: Partial<Attack>) => {
      const attack = ATTACKS.find((candidate) => candidate.name === name) ?? never();
      const before = { ...attack };
      Object.assign(attack, changes);
      try {
        return await failure(tellStory(stack, {}, forever));
      } finally {
        Object.assign(attack, before);
      }
    };

    it("publishes 25 users in two batches, verifies each, and sees every attack refused with its code", async () => {
      const heard: string[] = [];
      const listener: Listener = {
        published: (batches) => heard.push(`published ${batches.map(({ users }) => users).join(" and ")}`),
        verified: (count) => heard.push(`verified ${count}`),
        refused: (attack, _, code) => heard.push(`${attack}: ${code}`),
      };
      const told = await tellStory(stack, listener, forever);
      expect(told.records).to.have.lengthOf(25);
      expect(told.verified).to.equal(25);
      expect(told.refused).to.deep.equal(REFUSALS);
      const attacks = REFUSALS.map(({ attack, code }) => `${attack}: ${code}`);
      expect(heard).to.deep.equal(["published 12 and 13", "verified 25", ...attacks]);
    });

    it("ends where an attack is refused for another reason than it should be", async () => {
      const error = await tellWith("swapped-record", { refusal: "KEY_MISMATCH" });
      expect(error).to.be.an.instanceof(InvariantError).with.property("code", "DEMO_FAILED");
      expect(error).to.have.property("message").that.contains("swapped-record").and.contains("ROOT_MISMATCH");
    });

    it("ends where an attack is not refused", async () => {
      const error = await tellWith("swapped-key", { handOut: undefined as never });
      expect(error).to.have.property("code", "DEMO_FAILED");
      expect(error).to.have.property("message", "The attack swapped-key was not refused.");
    });

    it("stops as soon as it is told to", async () => {
      const stopping = new AbortController();
      const heard: string[] = [];
      const listener: Listener = {
        verified: () => {
          stopping.abort();
        },
        refused: (attack) => heard.push(attack),
      };
      expect(await failure(tellStory(stack, listener, stopping.signal))).to.have.property("name", "AbortError");
      expect(heard).to.be.empty;
    });
  });

  describe("the attacker", () => {
    let stack: Stack;
    let attacker: Interlocutor;
    let url: string;
    let root: string;
    const [victim = never(), ...others] = sampleRecords(5);
    const other = makeMerkleFile(sampleRecords(4, 2));

    before(async () => {
      stack = await startStack(hre, { ports: stackPorts(0) });
      const { rpcUrl, merkleUrl, merkleDir, contract } = stack;
      const registry = await Registry.connect(rpcCaller(rpcUrl, { maxBytes: 2 ** 20, timeoutMs: 30_000 }), contract);
      const { published } = await publish([victim, ...others], { registry, store: new FolderStore(merkleDir) });
      root = published[0]?.root ?? never();
      attacker = startProcess(new URL("../../demo/attacker.ts", import.meta.url), forever);
      const attackersKey = bytesToBase64(samplePublicKeys[3] ?? never());
      const orders: AttackersOrders = {
        victim: victim.userID,
        attackersKey,
        otherRoot: other.tree.root,
        rpcUrl,
        merkleUrl,
      };
      url = await attacker.ask(JSON.stringify(orders));
    });
    after(async () => {
      await attacker[Symbol.asyncDispose]();
      await stack.close();
    });

    it("passes on what an attack does not touch: through it alone, every key verifies", async () => {
      const { contract, chainId } = stack;
      for (const { name } of ATTACKS.filter((attack) => !attack.rpc)) {
        for (const { name: fileName } of ATTACKS.filter((attack) => !attack.file)) {
          const place = { rpc: `${url}/${name}/rpc`, merkleUrl: `${url}/${fileName}/files`, contract, chainId };
          const verified = await verifyPublicKey(victim.userID, { ...place, expectedPublicKey: victim.pubKey });
          expect(verified.record).to.deep.equal(victim);
        }
      }
    });

    it("changes the file on its way in each attack on the file", async () => {
      const honest = await readFile(join(stack.merkleDir, `${root}.json`), "utf8");
      for (const { name } of ATTACKS.filter((attack) => attack.file)) {
        const response = await fetch(`${url}/${name}/files/${root}.json`, { redirect: "manual" });
        if (name === "redirect") expect(response.status).to.equal(302);
        else expect((await response.text()) === honest, name).to.be.false;
      }
    });

    it("changes an answer of the endpoint in each attack on the endpoint", async () => {
      const data = encodeGetMerkleTreeRoot(victim.userID);
      const ask = async (address: string) => [
        await rpc(address, "eth_chainId"),
        await rpc(address, "eth_call", [{ to: stack.contract, data }, "latest"]),
      ];
      const honest = await ask(stack.rpcUrl);
      expect(honest[1]).to.equal(`0x${root}`);
      for (const { name, rpc: attacked } of ATTACKS) {
        const heard = await ask(`${url}/${name}/rpc`);
        if (attacked) expect(heard, name).to.not.deep.equal(honest);
        else expect(heard, name).to.deep.equal(honest);
      }
    });
  });

  describe("npm run demo", () => {
    const folder = temporaryFolder();

    it("tells people the whole story, and leaves nothing behind", async () => {
      const { code, stdout, stderr } = await keyroot(["demo"], { env: { TMPDIR: folder.path } });
      expect([code, stderr]).to.deep.equal([0, ""]);
      for (const { attack, code: refusal } of REFUSALS) {
        expect(stdout).to.match(new RegExp(`^ +${attack} .* ${refusal}$`, "m"));
      }
      expect(stdout)
        .to.contain("25 of 25 verified")
        .and.match(/\nAll as told\.\n$/);
      expect(await stackFoldersIn(folder.path)).to.be.empty;
    });

    it("tells scripts the same in one JSON object", async () => {
      const { code, json } = await keyrootJson(["demo"]);
      expect(code).to.equal(0);
      expect(json).to.deep.include({ published: 25, verified: 25, refused: REFUSALS });
      expect(json["roots"]).to.have.lengthOf(2);
    });

    it("ends with 1 where an attack is not refused as it must be", async () => {
      const attacks = new URL("../../demo/attacks.ts", import.meta.url).href;
      const program = `import { ATTACKS } from "${attacks}"; ATTACKS[0].refusal = "NOT_PUBLISHED";`;
      const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(program)}`;
      const { code, json } = await keyrootJson(["demo"], { env: { NODE_OPTIONS } });
      expect([code, json.error?.["code"]]).to.deep.equal([1, "DEMO_FAILED"]);
    });

    for (const [signal, code, line] of [
      ["SIGINT", 130, "2  A partner"],
      ["SIGTERM", 143, "5  An attacker"],
    ] as const) {
      it(`ends with ${code} at ${signal} after "${line}…", and leaves nothing behind`, async () => {
        const child = startKeyroot(["demo"], { TMPDIR: folder.path });
        const stderr = text(child.stderr);
        for await (const told of createInterface({ input: child.stdout })) {
          // As Ctrl-C does: to the whole process group.
          if (told.startsWith(line)) signalGroup(child, signal);
        }
        if (child.exitCode === null) await once(child, "exit");
        expect([child.exitCode, await stderr]).to.deep.equal([code, ""]);
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

    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      it(`stays up after the story until ${signal}, then frees its ports and removes all it made`, async () => {
        const env = { KEYROOT_STACK_FILE: join(folder.path, "notes", "stack.json"), TMPDIR: folder.path };
        child = startKeyroot(["demo", "--stay", "--port", "0", "--json"], env);
        const [line] = (await once(child.stdout, "data")) as [Buffer];
        const ready = JSON.parse(String(line)) as Omit<StackNote, "pid"> & Told & { baseUrl: string; users: string[] };
        const place = ["rpcUrl", "merkleUrl", "merkleDir", "contract", "chainId"];
        expect(ready).to.have.all.keys(...place, "baseUrl", "bizId", "serverToken", "users");
        expect(ready.users).to.have.lengthOf(25);
        const { baseUrl, bizId, serverToken } = ready;
        const known = new Set<string>();
        for await (const user of new PartnerClient({ baseUrl, bizId, serverToken }).listUsers())
          known.add(user.user_id);
        expect(known).to.deep.equal(new Set(ready.users));
        expect((await stat(ready.merkleDir)).isDirectory()).to.be.true;
        const { code, json } = await keyrootJson(["verify", ready.users[24] ?? never()], { env });
        expect([code, json["contract"]]).to.deep.equal([0, ready.contract]);

        const ending = outcomeOf(child);
        signalGroup(child, signal);
        expect(await ending).to.deep.equal({ code: 0, stdout: "", stderr: "" });
        await untilGroupIsGone(child);
        expect(await stackFoldersIn(folder.path)).to.be.empty;
        expect(await readdir(join(folder.path, "notes"))).to.be.empty;
        for (const address of [ready.rpcUrl, ready.merkleUrl, baseUrl]) {
          const server = await hold(Number(new URL(address).port));
          expect(portOf(server)).to.equal(Number(new URL(address).port));
          server.close();
        }
      });
    }
  });
});

function never(): never {
  throw new Error("there is none");
}
