import { expect } from "chai";
import hre from "hardhat";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Stack, startStack } from "@keyroot/service/stack";
import type { KeyRecord } from "keyroot";
import { makeMerkleFile, serializeMerkleFile } from "keyroot/internal/merkle";
import { x25519 } from "keyroot/key-types";
import { TYPES, type TypeName } from "../../support/data/keysOfTypes.ts";
import { never, temporaryFolder } from "../../support/support.ts";
import { describeWithProgram } from "../../support/processes/commandLine.ts";

const CHECKER = join(import.meta.dirname, "../../../examples/python/check_file.py");

describeWithProgram("keyroot with key types", (keyroot) => {
  const folder = temporaryFolder();
  let stack: Stack;
  let target: string[];

  // A registry has one key type.
  beforeEach(async () => {
    stack = await startStack(hre, { ports: { chain: 0, files: 0 } });
    const { contract, rpcUrl, merkleUrl } = stack;
    target = ["--rpc", rpcUrl, "--merkle-url", merkleUrl, "--contract", contract, "--chain-id", String(stack.chainId)];
  });

  afterEach(() => stack.close());

  /** Writes the records of sample users. @returns the path of the file, and the records */
  const sampleUsers = async (type: TypeName | "curve41417"): Promise<[string, KeyRecord[]]> => {
    const { code, stdout } = await keyroot.run(["sample-users", "--count", "6", "--key-type", type]);
    expect(code).to.equal(0);
    const path = join(folder.path, `${type}.jsonl`);
    await writeFile(path, stdout);
    return [
      path,
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as KeyRecord),
    ];
  };
  const csvOf = async (records: readonly KeyRecord[]) => {
    const path = join(folder.path, "users.csv");
    const rows = records.map(({ userID, pubKey, keyID }) => [userID, pubKey, keyID].join());
    await writeFile(path, ["userID,pubKey,keyID", ...rows].join("\n"));
    return path;
  };

  for (const type of TYPES) {
    const typed = ["--key-type", type];
    const run = (command: readonly string[]) => keyroot.json([...command, ...typed, ...target]);

    it(`publishes, verifies, audits and watches keys of ${type}`, async () => {
      const [path, records] = await sampleUsers(type);
      const [{ userID, pubKey }] = records as [KeyRecord];
      const published = await keyroot.run([
        ...["publish", "--records", await csvOf(records), "--files", stack.filesDir, ...typed, ...target],
      ]);
      expect(published.code, published.stderr).to.equal(0);

      const verified = await run(["verify", userID, "--expected-public-key", pubKey]);
      expect(verified.json["record"]).to.include({ userID, pubKey });
      const made = await run(["bundle", userID, "--files", stack.filesDir]);
      const { path: bundle } = made.json["bundle"] as { path: string };
      const trust = ["--trust", `pinned-block:${(made.json["block"] as { hash: string }).hash}`];
      const place = ["--contract", stack.contract, "--chain-id", String(stack.chainId)];
      const read = await keyroot.json(["verify", "--bundle", bundle, ...trust, ...place, ...typed]);
      expect(read.json["record"]).to.include({ userID, pubKey });
      const untyped = await keyroot.run(["verify", "--bundle", bundle, ...trust, ...place]);
      expect(untyped.code).to.equal(1);
      expect(untyped.stderr).to.include("KEY_TYPE_MISMATCH").and.to.include("Curve41417");

      const root = String(verified.json["root"]);
      const file = join(stack.filesDir, `${root}.json`);
      expect((await keyroot.run(["check-file", file, ...typed])).code).to.equal(0);
      expect((await keyroot.run(["check-file", file])).stderr).to.include("KEY_TYPE_MISMATCH");
      const watching = ["watch", "--once", "--records", path, "--from-block", "0", ...typed, ...target];
      const watched = await keyroot.run(watching);
      expect([watched.code, watched.stderr]).to.deep.equal([0, ""]);
    });
  }

  it("audits a registry with its key type, and finds every file invalid with another type", async () => {
    const [path] = await sampleUsers("p256");
    const typed = ["--key-type", "p256"];
    await keyroot.run(["publish", "--records", path, "--files", stack.filesDir, ...typed, ...target]);
    const state = ["--state", join(folder.path, "audit.sqlite"), "--skip-known-files"];
    expect(await keyroot.json(["audit", ...target, ...state, ...typed])).to.include({ code: 0 });
    const refused = await keyroot.run(["audit", ...target, ...state, "--key-type", "x25519"]);
    expect(refused.code).to.equal(2);
    expect(refused.stderr).to.match(/STATE_INVALID.* key type p256, but this audit has the key type x25519/s);
    const wrong = await keyroot.json(["audit", ...target, "--key-type", "x25519"]);
    expect(wrong.code).to.equal(1);
    expect(JSON.stringify(wrong.json)).to.include("KEY_TYPE_MISMATCH");
    // The audit with the wrong type left no state that would stop this one.
    expect(await keyroot.json(["audit", ...target, ...typed])).to.include({ code: 0 });
  });

  describe("a registry of another key type", () => {
    const publishing = async (type: TypeName | "curve41417", ...more: string[]) => {
      const [path] = await sampleUsers(type);
      return ["--records", path, "--key-type", type, ...target, ...more];
    };
    it("is named by publish, which compares with the published keys, even if all records are of new users", async () => {
      const more = ["--files", stack.filesDir, "--plan", join(folder.path, "plan")];
      expect((await keyroot.run(["publish", ...(await publishing("curve41417", ...more))])).code).to.equal(0);
      const newUsers = await keyroot.run(["publish", ...(await publishing("p256", ...more))]);
      expect(newUsers.code).to.equal(2);
      expect(newUsers.stderr).to.match(/KEY_TYPE_MISMATCH: .*P-256.*Curve41417/);

      // The same users with keys of another type, and a publisher that has no journal of the first publication.
      const curve = await readFile(join(folder.path, "curve41417.jsonl"), "utf8");
      const [, records] = await sampleUsers("p256");
      const swapped = curve
        .trimEnd()
        .split("\n")
        .map((line, i) => JSON.stringify({ ...records[i], userID: (JSON.parse(line) as KeyRecord).userID }));
      const path = join(folder.path, "swapped.jsonl");
      await writeFile(path, swapped.join("\n"));
      for (const mode of [["--files", stack.filesDir, "--plan", join(folder.path, "other")], ["--plan-only"]]) {
        const args = ["publish", "--records", path, "--key-type", "p256", ...target, ...mode];
        const { code, stderr } = await keyroot.run(args);
        expect(code).to.equal(2);
        expect(stderr).to.match(/KEY_TYPE_MISMATCH: .*P-256.*Curve41417/);
      }
    });
  });

  it("takes the key type from KEYROOT_KEY_TYPE, and refuses unknown types", async () => {
    const env = { KEYROOT_KEY_TYPE: "x25519" };
    const { stdout } = await keyroot.run(["sample-users", "--count", "1"], { env });
    expect(Buffer.from((JSON.parse(stdout) as KeyRecord).pubKey, "base64")).to.have.length(32);
    const { code, stderr } = await keyroot.run(["sample-users", "--key-type", "x448"]);
    expect(code).to.equal(2);
    for (const name of ["curve41417", ...TYPES]) expect(stderr).to.include(name);
  });

  it("names the user, and the types whose keys have the same length, if a key is invalid for its type", async () => {
    const [path, records] = await sampleUsers("x25519");
    const [first = never()] = records;
    // The coordinate 2 is valid for X25519, but not for Ed25519.
    const two = Buffer.alloc(32).fill(2, 0, 1);
    const keyID = createHash("sha256").update(two).digest().subarray(0, 16).toString("base64");
    await writeFile(path, JSON.stringify({ ...first, pubKey: two.toString("base64"), keyID }));
    const files = join(folder.path, "same-length");
    const build = (type: string) =>
      keyroot.run(["build-file", "--records", path, "--files", files, "--key-type", type]);
    const refused = await build("ed25519");
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.match(
      /line 1: PUBLIC_KEY_NOT_ON_CURVE: .*X25519, Ed25519 or document keys, .*key type\./,
    );
    expect((await build("x25519")).code).to.equal(0);
    const [name = ""] = await readdir(files);
    const { stderr } = await keyroot.run(["check-file", join(files, name), "--key-type", "ed25519"]);
    expect(stderr).to.contain(`The record of ${first.userID}: `).and.contain("X25519, Ed25519 or document keys");
  });

  describe("the program in Python", () => {
    const check = (...args: string[]) => {
      const { status, stdout, stderr } = spawnSync("python3", [CHECKER, ...args], { encoding: "utf8" });
      return { status, text: stdout + stderr };
    };

    it("accepts a file of X25519 users, and rejects each change of it", async () => {
      const [path, records] = await sampleUsers("x25519");
      const files = join(folder.path, "python");
      await keyroot.run(["build-file", "--records", path, "--files", files, "--key-type", "x25519"]);
      const [name = ""] = await readdir(files);
      const file = join(files, name);
      const userID = records[0]?.userID ?? "";
      expect(check(file, userID)).to.deep.equal({ status: 0, text: `${records[0]?.pubKey}\n` });
      expect(check(file, "y".repeat(32)).status).to.equal(1);
      const text = await readFile(file, "utf8");
      await writeFile(file, text.replace(/"level":0/, '"level":-0'));
      expect(check(file, userID).status, "the number -0").to.equal(1);
      for (const at of [10, 100, 400, text.length - 60, text.length - 3]) {
        const digit = text[at] === "1" ? "2" : "1";
        await writeFile(file, text.slice(0, at) + digit + text.slice(at + 1));
        expect(check(file, userID).status, `the character ${at}`).to.equal(1);
      }
    });

    it("rejects a file with an invalid key of another user", async () => {
      const [, [one = never(), two = never()]] = await sampleUsers("x25519");
      const zero = Buffer.alloc(32);
      const keyID = createHash("sha256").update(zero).digest().subarray(0, 16).toString("base64");
      const invalid = { ...two, pubKey: zero.toString("base64"), keyID };
      const made = makeMerkleFile(
        [one, invalid].toSorted((a, b) => (a.userID < b.userID ? -1 : 1)),
        x25519,
      );
      const file = join(folder.path, `${made.tree.root}.json`);
      await writeFile(file, [...serializeMerkleFile(made)].join(""));
      expect(check(file, one.userID)).to.have.property("status", 1);
      expect(check(file, one.userID).text).to.include("point of low order");
    });
  });
});
