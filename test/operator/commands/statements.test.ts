import { auditors } from "keyroot/auditors";
import { expect } from "chai";
import { keccak256 } from "ethers";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import "keyroot/auditors";
import { parseSignedStatement, serializeStatement } from "keyroot/internal/auditors";
import { ANY_KEY, serializeKeyRecord } from "keyroot/internal/identity";
import { signedBy, TestAuditor } from "../../support/auditors/testAuditor.ts";
import { auditedWorld } from "../../support/chain/auditedWorld.ts";
import { startEndpoint } from "../../support/chain/lyingEndpoint.ts";
import { describeWithProgram } from "../../support/processes/commandLine.ts";
import { sampleRecords } from "../../support/samples.ts";
import { serve, serveFolder } from "../../support/servers/servers.ts";
import { closedAfterEach, modeOf, never } from "../../support/support.ts";
import { verifierAt } from "../../support/verifier/verifyOnce.ts";

const records = sampleRecords(5);
const [first = never(), second = never(), third = never()] = records;
const PASSPHRASE = { KEYROOT_PASSPHRASE: "correct horse battery staple" };

describeWithProgram("keyroot, for auditors", (keyroot) => {
  const world = auditedWorld();
  const closing = closedAfterEach();
  let codeHash: string;
  let tests = 0;
  let folder: string;
  const keys = new Map<string, string>();
  let keyFolder: string;
  const keyFile = (name: string) => join(keyFolder, `${name}.json`);

  after(() => rm(keyFolder, { recursive: true }));
  before(async () => {
    keyFolder = await mkdtemp(join(tmpdir(), "keyroot-test-"));
    for (const name of ["alice.example", "bob.example"]) {
      const args = ["make-auditor-key", "--out", keyFile(name), "--name", name];
      const { code, json } = await keyroot.json(args, { env: PASSPHRASE });
      expect(code).to.equal(0);
      keys.set(name, String(json["key"]));
    }
  });
  beforeEach(async () => {
    folder = join(world.folder, `test-${++tests}`);
    await mkdir(folder);
    codeHash = keccak256(String(await world.fresh.call("eth_getCode", [world.fresh.contract, "latest"])));
    await world.publish([first, second]);
    await world.publish([third]);
    await mine();
  });

  /** Mines blocks up to a multiple of the interval. */
  const mine = async () => {
    const head = Number(await world.fresh.call("eth_blockNumber", []));
    await world.fresh.call("hardhat_mine", [`0x${(100 - (head % 100)).toString(16)}`]);
  };
  const place = () => ["--contract", world.fresh.contract, "--chain-id", String(world.fresh.chainId)];
  const statements = (name: string) => join(folder, name);
  const signing = (name: string, ...more: string[]) => [
    ...["sign-statement", ...place(), "--merkle-url", world.fresh.merkleUrl, "--state", join(folder, `${name}.sqlite`)],
    ...["--key", keyFile(name), "--statements", statements(name), "--interval", "100"],
    ...more,
  ];
  const ownNode = () => ["--rpc", world.url, "--trust", "own-node", "--code-hash", codeHash];
  const sign = async (name: string) => {
    const { code, json, message } = await keyroot.json(signing(name, ...ownNode()), { env: PASSPHRASE });
    expect([code, message]).to.deep.equal([0, undefined]);
    return json;
  };
  const latestOf = async (name: string) => parseSignedStatement(await readFile(join(statements(name), "latest.txt")));
  const publish = async (name: string) => closing(await serveFolder(statements(name))).url;
  const errorOf = async (args: string[], env: NodeJS.ProcessEnv = PASSPHRASE) => {
    const { code, error } = await keyroot.json(args, { env });
    return [code, error];
  };

  describe("make-auditor-key", () => {
    it("writes an encrypted file that only its owner can read", async () => {
      expect(await modeOf(keyFile("alice.example"))).to.equal("600");
      expect(await readFile(keyFile("alice.example"), "utf8")).to.include(keys.get("alice.example"));
      const again = ["make-auditor-key", "--out", keyFile("alice.example"), "--name", "alice.example"];
      expect(await errorOf(again)).to.deep.equal([2, "ARGUMENT_INVALID"]);
    });

    it("makes a key that signs only from a private file and with the correct passphrase", async () => {
      const path = join(folder, "key.json");
      const args = signing("alice.example", ...ownNode()).map((word) =>
        word === keyFile("alice.example") ? path : word,
      );
      const text = await readFile(keyFile("alice.example"), "utf8");
      await writeFile(path, text, { mode: 0o600 });
      expect(await errorOf(args, { KEYROOT_PASSPHRASE: "wrong" })).to.deep.equal([2, "KEY_FILE_INVALID"]);
      expect(await errorOf(args, {})).to.deep.equal([2, "PASSPHRASE_MISSING"]);
      await writeFile(path, text.replace("alice.example+", "alyce.example+"));
      expect(await errorOf(args)).to.deep.equal([2, "KEY_FILE_INVALID"]);
      await writeFile(path, text);
      await chmod(path, 0o644);
      expect(await errorOf(args)).to.deep.equal([2, "FILE_PERMISSIONS"]);
    });
  });

  describe("sign-statement", () => {
    it("writes a statement that becomes valid when two auditors sign it", async () => {
      const { signed } = (await sign("alice.example")) as { signed: { source: string } };
      expect(signed.source).to.equal("own node");
      await sign("bob.example");
      const [alice, bob] = await Promise.all(
        ["alice.example", "bob.example"].map(async (name) => readFile(join(statements(name), "latest.txt"))),
      );
      expect(parseSignedStatement(alice ?? never()).text).to.equal(parseSignedStatement(bob ?? never()).text);
      const verifier = verifierAt({
        ...{ rpc: world.url, chainId: world.fresh.chainId, contract: world.fresh.contract },
        merkleUrl: world.fresh.merkleUrl,
        trust: auditors({
          keys: [...keys.values()],
          threshold: 2,
          urls: [await publish("alice.example"), await publish("bob.example")],
        }),
        now: () => Date.now() + 50_000_000,
      });
      const { record, evidence } = await verifier.verify(first.userID, { expectedPublicKey: ANY_KEY });
      expect(record).to.deep.equal(first);
      expect(evidence).to.deep.include({
        source: "auditors",
        storageProof: true,
        details: { auditors: [...keys.values()] },
      });
    });

    it("writes the numbers of users and roots, and the source of the chain's data", async () => {
      // The third user keeps the earlier root.
      await world.add(await world.store([third, records[3] ?? never()].map(serializeKeyRecord)), [
        third.userID,
        (records[3] ?? never()).userID,
      ]);
      await mine();
      await sign("alice.example");
      const names = (await readdir(statements("alice.example"))).sort();
      const { statement } = await latestOf("alice.example");
      const { number } = statement.block;
      expect(names).to.deep.equal([`${number}.json`, `${number}.txt`, "latest.txt"].sort());
      expect(number % 100).to.equal(0);
      expect(statement).to.include({ codeHash, userCount: 4, rootCount: 3, damagedCount: 0 });
      const note = JSON.parse(await readFile(join(statements("alice.example"), `${number}.json`), "utf8")) as object;
      expect(note).to.deep.include({ auditor: keys.get("alice.example"), source: "own node", block: statement.block });
    });

    it("signs the block on which two of three endpoints agree", async () => {
      const third = closing(await startEndpoint(world.fresh.rpcUrl));
      const three = [world.fresh.rpcUrl, third.url, world.url];
      world.lie((method, params, truth) => (method === "eth_call" ? `0x${"1".repeat(64)}` : truth(method, params)));
      const args = signing("alice.example", "--rpc", three.join(), "--trust", "endpoints:2", "--code-hash", codeHash);
      const { code, json, message } = await keyroot.json(args, { env: PASSPHRASE });
      expect([code, message]).to.deep.equal([0, undefined]);
      expect(json).to.have.nested.property("signed.source", "2 of 3 endpoints");
    });

    it("counts files that it verified earlier as read", async () => {
      await sign("alice.example");
      await world.writeText((await readdir(world.pathOf(""))).map((name) => name.slice(0, 64))[0] ?? "", "{}");
      await mine();
      expect(await sign("alice.example")).to.include({ passed: true });
    });

    it("exits with code 2 without strong evidence", async () => {
      const rpc = ["--rpc", world.url];
      const refused = [
        [...rpc, "--code-hash", codeHash],
        [...rpc, "--trust", "own-node"],
        [...rpc, "--trust", "endpoints:2", "--code-hash", codeHash],
        ["--rpc", `${world.url},${world.url}/2`, "--trust", "endpoints:2", "--code-hash", codeHash],
        [...ownNode(), "--block", "latest"],
        [...rpc, "--trust", `pinned-block:${await world.head()}`, "--code-hash", codeHash],
      ];
      for (const more of refused)
        expect(await errorOf(signing("alice.example", ...more)), more.join(" ")).to.deep.equal([2, "ARGUMENT_INVALID"]);
    });

    it("signs a statement that lists damaged roots, and fails", async () => {
      const root = await world.publish([records[4] ?? never()]);
      await world.writeText(root, "{}");
      await mine();
      const { code, json } = await keyroot.json(signing("alice.example", ...ownNode()), { env: PASSPHRASE });
      expect([code, json["passed"]]).to.deep.equal([1, false]);
      const { statement } = await latestOf("alice.example");
      expect(statement).to.deep.include({ damagedCount: 1, damagedRoots: [{ root, codes: ["FILE_INVALID"] }] });
      expect(json).to.have.deep.nested.property("signed.statement", statement);
    });

    it("signs the block again without a damaged root whose file was restored", async () => {
      const root = await world.publish([records[4] ?? never()]);
      const text = await world.readText(root);
      await world.writeText(root, "{}");
      await mine();
      await keyroot.json(signing("alice.example", ...ownNode()), { env: PASSPHRASE });
      const damaged = await latestOf("alice.example");
      await world.writeText(root, text);
      await sign("alice.example");
      const { statement } = await latestOf("alice.example");
      expect(statement).to.deep.equal({ ...damaged.statement, damagedCount: 0, damagedRoots: [] });
    });

    it("names the block, and how to get a later one, if the block has no registry", async () => {
      const elsewhere = `0x${"12".repeat(20)}`;
      const args = signing("alice.example", ...ownNode());
      const { code, error, message } = await keyroot.json(
        args.map((word) => (word === world.fresh.contract ? elsewhere : word)),
        { env: PASSPHRASE },
      );
      expect([code, error]).to.deep.equal([1, "NO_CONTRACT"]);
      const number = Number(await world.fresh.call("eth_blockNumber", []));
      expect(message).to.match(
        new RegExp(`in block ${number}, .* --interval 100\\..* until block ${number + 100} is final`),
      );
    });

    it("signs nothing if the endpoint withholds events or the contract has different code", async () => {
      const wrong = ownNode().with(-1, `0x${"12".repeat(32)}`);
      expect(await errorOf(signing("alice.example", ...wrong))).to.deep.equal([1, "CODE_HASH_MISMATCH"]);
      world.lie((method, params, truth) => (method === "eth_getLogs" ? [] : truth(method, params)));
      const { code, json } = await keyroot.json(signing("alice.example", ...ownNode()), { env: PASSPHRASE });
      expect([code, json["passed"], json["signed"]]).to.deep.equal([1, false, undefined]);
      expect(await readdir(folder)).to.not.include("alice.example");
    });

    it("never signs a statement that contradicts its last statement", async () => {
      await sign("alice.example");
      const { statement } = await latestOf("alice.example");
      const text = serializeStatement({ ...statement, userCount: 4 });
      const last = signedBy([new TestAuditor("other.example")], text);
      await writeFile(join(statements("alice.example"), "latest.txt"), last);
      await mine();
      expect(await errorOf(signing("alice.example", ...ownNode()))).to.deep.equal([1, "STATEMENT_CONFLICT"]);
      expect(await readFile(join(statements("alice.example"), "latest.txt"), "utf8")).to.equal(last);
    });
  });

  describe("compare-statements", () => {
    const comparing = async (...urls: string[]) => {
      const path = join(folder, "auditors.txt");
      await writeFile(path, [...keys.values()].join("\n"));
      return [
        ...["compare-statements", "--statement-urls", urls.join()],
        ...["--statements", statements("alice.example"), "--auditors", path],
      ];
    };

    /** Serves a file that mallory, a known auditor, signed. */
    const serveSigned = async (text: string) => {
      const mallory = new TestAuditor("mallory.example");
      keys.set("mallory.example", mallory.key);
      const file = signedBy([mallory], text);
      return { file, ...closing(await serve((_, response) => response.end(file))) };
    };
    afterEach(() => keys.delete("mallory.example"));

    it("merges the signatures of equal statements", async () => {
      await sign("alice.example");
      await sign("bob.example");
      const { code, json } = await keyroot.json(await comparing(await publish("bob.example")), {});
      expect(code).to.equal(0);
      expect(json).to.have.nested.property("compared[0].result", "agrees");
      const { signatures } = await latestOf("alice.example");
      expect(signatures.map(({ name }) => name)).to.deep.equal(["alice.example", "bob.example"]);
    });

    it("tells folders on one host apart, and prints no other part of their URLs", async () => {
      await sign("alice.example");
      await sign("bob.example");
      const { url } = closing(await serveFolder(folder));
      const { host } = new URL(url);
      const urls = [`${url}/alice.example`, `${url}/bob.example/`, `${url}/nobody?token=secret`];
      const { stdout } = await keyroot.run(await comparing(...urls));
      expect(stdout).to.match(
        new RegExp(`^Agrees: ${host}/alice\\.example, block .*\nAgrees: ${host}/bob\\.example, block `),
      );
      expect(stdout).to.contain(`Unavailable: ${host}/nobody: `).and.not.contain("secret");
    });

    it("compares an earlier statement if the other auditor's newest is for a later block", async () => {
      await sign("alice.example");
      await sign("bob.example");
      await world.publish([records[4] ?? never()]);
      await mine();
      await sign("bob.example");
      const { code, json } = await keyroot.json(await comparing(await publish("bob.example")), {});
      expect([code, json["agrees"]]).to.deep.equal([0, true]);
      const { statement } = await latestOf("alice.example");
      expect(json).to.have.nested.property("compared[0].blockNumber", statement.block.number);
    });

    it("exits with code 1, and prints both statements if one of them must be false", async () => {
      await sign("alice.example");
      const own = await readFile(join(statements("alice.example"), "latest.txt"), "utf8");
      const { statement } = parseSignedStatement(Buffer.from(own));
      const { number } = statement.block;
      for (const changes of [
        { userCount: 4 },
        { block: { ...statement.block, hash: `0x${"12".repeat(32)}` } },
        { block: { ...statement.block, number: number + 1 }, rootCount: 1 },
      ]) {
        const { file, url } = await serveSigned(serializeStatement({ ...statement, ...changes }));
        const { code, json } = await keyroot.json(await comparing(url), {});
        expect(code).to.equal(1);
        expect(json).to.have.nested.property("compared[0].findings[0].code", "STATEMENT_CONFLICT");
        expect(json).to.have.deep.nested.property("compared[0].findings[0].evidence", [own, file]);
      }
    });

    it("exits with code 1, and names the damaged roots that only one of the auditors found", async () => {
      await sign("alice.example");
      const { statement } = await latestOf("alice.example");
      const damagedRoots = [{ root: "12".repeat(32), codes: ["FILE_MISSING"] }];
      const { url } = await serveSigned(serializeStatement({ ...statement, damagedCount: 1, damagedRoots }));
      const { code, json } = await keyroot.json(await comparing(url), {});
      expect(code).to.equal(1);
      expect(json).to.have.nested.property("compared[0].result", "differs");
      expect(json)
        .to.have.nested.property("compared[0].message")
        .that.includes(`${"12".repeat(32)} (FILE_MISSING)`);
    });

    it("exits with code 3 if there is no statement to compare", async () => {
      await sign("alice.example");
      const { text, statement } = await latestOf("alice.example");
      const unknown = signedBy([new TestAuditor("x.example")], text);
      const host = closing(await serve((_, response) => response.end(unknown)));
      const later = { ...statement, block: { ...statement.block, number: statement.block.number + 100 } };
      const { file } = await serveSigned(serializeStatement(later));
      const other = closing(
        await serve(({ url = "" }, response) => {
          const isLatest = url.endsWith("/latest.txt");
          response.writeHead(isLatest ? 200 : 404).end(isLatest ? file : "");
        }),
      );
      for (const url of [host.url, other.url, "http://127.0.0.1:9"])
        expect((await keyroot.json(await comparing(url), {})).code).to.equal(3);
    });
  });
});
