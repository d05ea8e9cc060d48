import { expect } from "chai";
import hre from "hardhat";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Stack, startStack } from "@keyroot/service/stack";
import type { Bundle } from "keyroot/bundle";
import { ANY_KEY, type KeyRecord, userIDToHex } from "keyroot/internal/identity";
import { makeMerkleFile, verifyMerkleProof } from "keyroot/internal/merkle";
import { sampleRecords, sampleUserID, textOf } from "../../support/samples.ts";
import { temporaryFolder } from "../../support/support.ts";
import { statementText } from "../../support/auditors/statementHost.ts";
import { signedBy, testAuditors } from "../../support/auditors/testAuditor.ts";
import { type CommandLine, describeWithProgram } from "../../support/processes/commandLine.ts";

describeWithProgram("keyroot", (keyroot) => {
  const folder = temporaryFolder();
  const file = makeMerkleFile(sampleRecords(700));
  const { root } = file.tree;
  const [mine, other] = file.records as [KeyRecord, KeyRecord];
  const stranger = file.records.find(({ pubKey }) => pubKey !== mine.pubKey) ?? other;
  const { userID } = mine;

  let stack: Stack;
  let target: string[];
  /** Options with the contract and block that the user trusts, for a command without a network. */
  let trusted: string[];
  let bundlePath: string;
  let made: Awaited<ReturnType<CommandLine["json"]>>;

  before(async () => {
    stack = await startStack(hre, { ports: { chain: 0, files: 0 } });
    const { contract, rpcUrl, merkleUrl, filesDir, connection } = stack;
    await writeFile(join(filesDir, `${root}.json`), textOf(file));
    const registry = await connection.ethers.getContractAt("PublicKeyRegistry", contract);
    const packed = file.records.map(({ userID }) => userIDToHex(userID)).join("");
    await registry.addMerkleTreeRoot(`0x${root}`, `0x${packed}`);

    target = ["--rpc", rpcUrl, "--merkle-url", merkleUrl, "--contract", contract, "--chain-id", String(stack.chainId)];
    made = await keyroot.json(["bundle", userID, ...target, "--files", filesDir]);
    bundlePath = (made.json["bundle"] as { path: string }).path;
    trusted = ["--contract", contract, "--trust", `pinned-block:${(made.json["block"] as { hash: string }).hash}`];
  });

  after(() => stack.close());

  const verify = (path: string, ...options: string[]) => keyroot.json(["verify", "--bundle", path, ...options]);
  /** Writes the stack file of a running stack. @returns the environment that names the file */
  const writeStack = async () => {
    const { rpcUrl, merkleUrl, filesDir, contract, chainId } = stack;
    const env = { KEYROOT_STACK_FILE: join(folder.path, "stack.json") };
    const running = { rpcUrl, merkleUrl, filesDir, contract, chainId, pid: process.pid };
    await writeFile(env.KEYROOT_STACK_FILE, JSON.stringify(running));
    return env;
  };
  const forge = async (change: (bundle: Bundle) => object) => {
    const path = join(folder.path, "forged.json");
    await writeFile(path, JSON.stringify(change(JSON.parse(await readFile(bundlePath, "utf8")) as Bundle)));
    return path;
  };

  describe("bundle", () => {
    it("writes the proof and the bundle to the file host's folder", async () => {
      expect(made.code).to.equal(0);
      expect(made.json).to.include({ root, contract: stack.contract, chainId: stack.chainId });
      expect(made.json["record"]).to.deep.equal(mine);
      expect((await readdir(join(stack.filesDir, root))).sort()).to.deep.equal(
        [`${userID}.bundle.json`, `${userID}.json`].sort(),
      );
      for (const [name, most] of [
        ["proof", 3_000],
        ["bundle", 8_000],
      ] as const) {
        const { path, bytes } = made.json[name] as { path: string; bytes: number };
        const response = await fetch(stack.merkleUrl + path.slice(stack.filesDir.length));
        const text = await response.text();
        expect([text, bytes]).to.deep.equal([await readFile(path, "utf8"), text.length]);
        expect(bytes).to.be.at.most(most);
      }
    });

    it("writes a proof that is valid for the contract's root", async () => {
      const bytes = await (await fetch(`${stack.merkleUrl}/${root}/${userID}.json`)).bytes();
      expect(verifyMerkleProof(bytes, { userID, root, expectedPublicKey: ANY_KEY })).to.deep.include({
        record: mine,
        uniqueness: "unchecked",
      });
    });

    it("prints the command that verifies the bundle", async () => {
      const { code, stdout } = await keyroot.run(["bundle", other.userID, ...target, "--files", folder.path]);
      expect(code).to.equal(0);
      const [proof = "", bundle = "", , hint = ""] = stdout.split("\n");
      expect(proof).to.match(/\.json {2}proof, \d+ bytes$/);
      expect(bundle).to.match(/\.bundle\.json {2}bundle, \d+ bytes$/);
      const [path = ""] = bundle.split("  ");
      expect(hint)
        .to.match(new RegExp(`^ {2}${keyroot.program} verify --bundle `))
        .and.contain(path);
      const command = hint.trim().slice(keyroot.program.length + 1);
      const { code: verified } = await keyroot.run(command.split(" "));
      expect(verified).to.equal(0);
    });

    it("replaces a bundle with a bundle for another block", async () => {
      const env = await writeStack();
      const before = await readFile(bundlePath, "utf8");
      await stack.connection.networkHelpers.mine();
      const bundling = ["bundle", userID, "--files", stack.filesDir];
      const newer = await keyroot.json(bundling, { env });
      expect([newer.code, (newer.json["bundle"] as { path: string }).path]).to.deep.equal([0, bundlePath]);
      expect(await readFile(bundlePath, "utf8")).to.not.equal(before);
      expect((await keyroot.json([...bundling, ...trusted.slice(2)], { env })).code).to.equal(0);
      expect(await readFile(bundlePath, "utf8")).to.equal(before);
      // The running stack also names the contract, so the option is not needed.
      const verified = await keyroot.run(["verify", "--bundle", bundlePath, ...trusted.slice(2)], { env });
      expect(verified).to.include({ code: 0, stderr: "" });
    });

    const but = (option: string, value: string) => target.with(target.indexOf(option) + 1, value);
    for (const [what, exit, error, args] of [
      ["a user without a key", 1, "NOT_PUBLISHED", () => [sampleUserID(1, 9), ...target]],
      ["another chain", 1, "CHAIN_ID_MISMATCH", () => [userID, ...but("--chain-id", "1")]],
      ["an invalid user id", 2, "USER_ID_INVALID", () => ["me", ...target]],
      ["an invalid block hash", 2, "ARGUMENT_INVALID", () => [userID, ...target, "--trust", "pinned-block:latest"]],
      ["neither an endpoint nor a running stack", 2, "ARGUMENT_INVALID", () => [userID]],
      ["a missing user id", 2, "ARGUMENT_INVALID", () => target],
      [
        "an unknown block",
        3,
        "RPC_ANSWER_INVALID",
        () => [userID, ...target, "--trust", `pinned-block:0x${"12".repeat(32)}`],
      ],
      ["an unavailable endpoint", 3, "UNREACHABLE", () => [userID, ...but("--rpc", "http://127.0.0.1:1")]],
    ] as const) {
      it(`exits with code ${exit} and writes nothing for ${what}`, async () => {
        const ran = await keyroot.json(["bundle", ...args(), "--files", folder.path]);
        expect(ran).to.include({ code: exit, error });
        expect(await readdir(folder.path)).to.be.empty;
      });
    }

    it("requires --files even with a running stack", async () => {
      const env = await writeStack();
      const before = await readFile(bundlePath, "utf8");
      await stack.connection.networkHelpers.mine();
      const { code, error, message } = await keyroot.json(["bundle", userID], { env });
      expect([code, error]).to.deep.equal([2, "ARGUMENT_INVALID"]);
      expect(message).to.contain("--files");
      expect(await readFile(bundlePath, "utf8")).to.equal(before);
    });

    it("exits with code 3 if it cannot write the files", async () => {
      const path = join(folder.path, "file");
      await writeFile(path, "");
      const refused = await keyroot.json(["bundle", userID, ...target, "--files", path]);
      expect(refused).to.include({ code: 3, error: "FILE_UNWRITABLE" });
      // A folder has the name of the proof, so that writing fails. The command must leave no draft.
      await mkdir(join(folder.path, root, `${userID}.json`), { recursive: true });
      expect((await keyroot.json(["bundle", userID, ...target, "--files", folder.path])).code).to.equal(3);
      expect(await readdir(join(folder.path, root))).to.deep.equal([`${userID}.json`]);
    });
  });

  describe("verify --bundle", () => {
    it("verifies a user's key and reports the evidence", async () => {
      const { code, json } = await verify(bundlePath, ...trusted);
      expect(code).to.equal(0);
      expect(json["record"]).to.deep.equal(mine);
      expect(json).to.include({ verified: true, root, uniqueness: "unchecked", chainId: stack.chainId });
      expect(json["evidence"]).to.deep.equal({ source: "pinned-block", storageProof: true, block: made.json["block"] });
    });

    it("opens no connection", async () => {
      const patch = "import net from 'node:net'; net.Socket.prototype.connect = () => { throw new Error('network'); };";
      const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(patch)}` };
      const { code, stderr } = await keyroot.run(["verify", "--bundle", bundlePath, ...trusted], { env });
      expect([code, stderr]).to.deep.equal([0, ""]);
      // With the same patch, a command that opens connections fails.
      expect((await keyroot.run(["verify", userID, ...target], { env })).code).to.equal(3);
    });

    it("prints the result as text", async () => {
      const { code, stdout } = await keyroot.run(["verify", userID, "--bundle", bundlePath, ...trusted]);
      expect(code).to.equal(0);
      expect(stdout).to.match(new RegExp(`^The public key of ${userID} is verified as of block \\d+\\.\n`));
      expect(stdout).to.contain("Only the whole file can show this.");
    });

    it("accepts correct values for the chain, key and code", async () => {
      const known = ["--chain-id", String(stack.chainId), "--expected-public-key", mine.pubKey];
      const { json } = await verify(bundlePath, ...trusted);
      expect(await verify(bundlePath, ...trusted, ...known, "--code-hash", String(json["codeHash"]))).to.include({
        code: 0,
      });
    });

    it("names the option for the hash of the bundle's block if the choice of trust needs a network", async () => {
      const { number } = made.json["block"] as { number: number };
      for (const choice of [[], ["--trust", "own-node"], ["--trust", "endpoints:2"]]) {
        const refused = await verify(bundlePath, ...trusted.slice(0, 2), ...choice);
        expect(refused).to.include({ code: 2, error: "ARGUMENT_INVALID" });
        expect(refused.message).to.match(new RegExp(`hash of block ${number} from .* set --trust pinned-block:HASH`));
      }
    });

    it("exits with code 1 for a false or malformed bundle", async () => {
      for (const [error, path, options] of [
        ["KEY_MISMATCH", bundlePath, ["--expected-public-key", stranger.pubKey]],
        ["CHAIN_ID_MISMATCH", bundlePath, ["--chain-id", "1"]],
        ["CODE_HASH_MISMATCH", bundlePath, ["--code-hash", `0x${"12".repeat(32)}`]],
        ["USER_MISMATCH", bundlePath, [other.userID]],
        ["BUNDLE_SHAPE", join(stack.filesDir, root, `${userID}.json`), []],
        ["FILE_TOO_LARGE", join(stack.filesDir, `${root}.json`), []],
        ["PROOF_INVALID", await forge((bundle) => ({ ...bundle, storageProof: [] })), []],
      ] as const) {
        expect(await verify(path, ...trusted, ...options)).to.include({ code: 1, error });
      }
      const elsewhere = ["--contract", `0x${"12".repeat(20)}`, ...trusted.slice(2)];
      expect(await verify(bundlePath, ...elsewhere)).to.include({ code: 1, error: "CONTRACT_MISMATCH" });
      const otherBlock = [...trusted.slice(0, 3), `pinned-block:0x${"12".repeat(32)}`];
      expect(await verify(bundlePath, ...otherBlock)).to.include({ code: 1, error: "HEADER_MISMATCH" });
    });

    it("exits with code 2 for invalid arguments", async () => {
      for (const [error, path, options] of [
        ["ARGUMENT_INVALID", bundlePath, trusted.slice(2)],
        ["ARGUMENT_INVALID", bundlePath, [...trusted.slice(0, 3), "latest"]],
        ["ARGUMENT_INVALID", bundlePath, ["--contract", "0x12", ...trusted.slice(2)]],
        ["ARGUMENT_INVALID", bundlePath, [...trusted, "--rpc", stack.rpcUrl]],
        ["USER_ID_INVALID", bundlePath, [...trusted, "me"]],
        ["FILE_UNREADABLE", join(folder.path, "none.json"), trusted],
        ["FILE_UNREADABLE", folder.path, trusted],
      ] as const) {
        expect(await verify(path, ...options)).to.include({ code: 2, error });
      }
    });
  });

  describe("verify --bundle --trust auditors", () => {
    it("takes the chain from the caller and never from the bundle, because auditors also sign for other chains", async () => {
      const [auditor] = testAuditors("a");
      const keys = join(folder.path, "auditors.txt");
      await writeFile(keys, `${auditor.key}\n`);
      // The same contract address on another chain, with a true statement and proof of that chain.
      const path = await forge((bundle) => {
        const { number = "", timestamp = "" } = bundle.header as Record<string, string>;
        const { hash } = made.json["block"] as { hash: string };
        const text = statementText(bundle, { number, hash, timestamp }, { codeHash: bundle.codeHash });
        return { ...bundle, statement: signedBy([auditor], text) };
      });
      const options = [...trusted.slice(0, 2), "--trust", "auditors", "--auditors", keys, "--threshold", "1"];
      const refused = await verify(path, ...options);
      expect(refused).to.include({ code: 2, error: "ARGUMENT_INVALID" });
      expect(refused.message).to.contain("Set --chain-id.");
      expect(await verify(path, ...options, "--chain-id", "1")).to.include({ code: 1, error: "CHAIN_ID_MISMATCH" });
      expect(await verify(path, ...options, "--chain-id", String(stack.chainId))).to.include({ code: 0 });
    });
  });

  describe("verify", () => {
    it("exits with code 2 without a user", async () => {
      expect(await keyroot.json(["verify", ...target])).to.include({ code: 2, error: "ARGUMENT_INVALID" });
    });
  });
});
