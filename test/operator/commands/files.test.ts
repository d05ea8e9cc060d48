import { expect } from "chai";
import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { watch } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { cutIntoFiles, RecordTable } from "@keyroot/operator/publisher";
import {
  type KeyRecord,
  parseKeyRecord,
  serializeKeyRecord,
  userIDFromHex,
  userIDToHex,
} from "keyroot/internal/identity";
import { makeMerkleFile } from "keyroot/internal/merkle";
import { sampleRecords, textOf } from "../../support/samples.ts";
import { never, temporaryFolder } from "../../support/support.ts";
import { describeOnHosts, environment, outcomeOf } from "../../support/processes/commandLine.ts";

const jsonl = (records: readonly KeyRecord[]) => records.map((record) => `${serializeKeyRecord(record)}\n`).join("");

describeOnHosts("keyroot, without a chain", (keyroot) => {
  const folder = temporaryFolder();
  const inFolder = (name: string) => join(folder.path, name);
  const out = () => inFolder("files");
  const write = async (name: string, content: string | Buffer) => {
    await writeFile(inFolder(name), content);
    return inFolder(name);
  };

  describe("sample-users", () => {
    it("prints the requested number of valid records", async () => {
      const { code, stdout, stderr } = await keyroot.run(["sample-users", "--count", "30"]);
      expect([code, stderr]).to.deep.equal([0, ""]);
      const records = stdout
        .trimEnd()
        .split("\n")
        .map((line) => parseKeyRecord(line));
      expect(new Set(records.map(({ userID }) => userID))).to.have.lengthOf(30);
      expect(new Set(records.map(({ pubKey }) => pubKey))).to.have.lengthOf(30);
    });

    for (const [signal, code] of [
      ["SIGINT", 130],
      ["SIGTERM", 143],
    ] as const) {
      it(`exits with code ${code} at ${signal}`, async () => {
        const child = keyroot.start(["sample-users", "--count", "1000000"]);
        child.stdout.once("data", () => child.kill(signal));
        expect(await outcomeOf(child)).to.include({ code, stderr: "" });
      });
    }
  });

  describe("make-records", () => {
    const [one = never(), two = never()] = sampleRecords(2);
    const make = async (csv: string | Buffer, secret = "ab".repeat(32), ...more: string[]) => {
      const path = inFolder("ids.secret");
      await writeFile(path, `${secret}\n`, { mode: 0o600 });
      const customers = await write("customers.csv", csv);
      return keyroot.run(["make-records", "--csv", customers, "--id-column", "email", "--secret-file", path, ...more]);
    };

    // RFC 2104, with Node's implementation.
    const idOf = (email: string) => createHmac("sha256", "ab".repeat(32)).update(email).digest("hex").slice(0, 40);

    it("prints records with ids that are derived from a column and the secret, and the rows' line numbers", async () => {
      const csv = `email;name;pubKey\nann@example.com;Ann;${one.pubKey}\nbob@example.com;Bob;${two.pubKey}`;
      const { code, stdout, stderr } = await make(csv);
      expect([code, stderr]).to.deep.equal([
        0,
        `Ignored the column name of ${inFolder("customers.csv")}, because records have no such field.\n`,
      ]);
      const records = stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as KeyRecord & { line: number });
      const expected = [
        ["ann@example.com", one, 2],
        ["bob@example.com", two, 3],
      ] as const;
      const ids = expected.map(([email, { pubKey }, line]) => [idOf(email), pubKey, line]);
      expect(records.map(({ userID, pubKey, line }) => [userIDToHex(userID), pubKey, line])).to.have.deep.members(ids);
      const built = await keyroot.json([
        "build-file",
        "--records",
        await write("made.jsonl", stdout),
        "--files",
        out(),
      ]);
      expect(built.json).to.include({ users: 2 });
    });

    it("prints one JSON object with --json", async () => {
      const { code, stdout } = await make(`email,pubKey\nann@example.com,${one.pubKey}`, undefined, "--json");
      const { records } = JSON.parse(stdout) as { records: (KeyRecord & { line: number })[] };
      const { pubKey, keyID } = one;
      const userID = userIDFromHex(idOf("ann@example.com"));
      expect([code, records]).to.deep.equal([0, [{ userID, pubKey, keyID, line: 2 }]]);
    });

    it("ignores spaces around an identifier and its Unicode form, and warns of uppercase letters", async () => {
      const spelled = [" jos\u00e9@example.com", "\u00a0jose\u0301@example.com\u00a0"];
      for (const email of spelled) {
        const { stdout, stderr } = await make(`email,pubKey\n${email},${one.pubKey}`);
        expect([stderr, (JSON.parse(stdout) as KeyRecord).userID]).to.deep.equal([
          "",
          userIDFromHex(idOf("jos\u00e9@example.com")),
        ]);
      }
      const { code, stdout, stderr } = await make(`email,pubKey\nAnn@example.com,${one.pubKey}`);
      expect([code, (JSON.parse(stdout) as KeyRecord).userID]).to.deep.equal([
        0,
        userIDFromHex(idOf("Ann@example.com")),
      ]);
      expect(stderr).to.match(/^Warning: 1 cell of the column email .*uppercase.*lowercase/);
    });

    it("ends with the exit code of malformed data for a bad row and for UTF-16, and of arguments for a missing file", async () => {
      expect((await make("email,pubKey\nann@example.com,x")).code).to.equal(1);
      const utf16 = await make(Buffer.from(`email,pubKey\nann@example.com,${one.pubKey}`, "utf16le"));
      expect(utf16.code).to.equal(1);
      expect(utf16.stderr).to.include("RECORDS_INVALID").and.to.include("UTF-16");
      const files = ["--csv", inFolder("missing.csv"), "--id-column", "email", "--secret-file", inFolder("ids.secret")];
      const missing = await keyroot.run(["make-records", ...files]);
      expect(missing.code).to.equal(2);
      expect(missing.stderr).to.include("FILE_UNREADABLE");
    });

    it("prints nothing if a row is invalid", async () => {
      const { code, stdout, stderr } = await make(`email,pubKey\nann@example.com,${one.pubKey}\n,${two.pubKey}`);
      expect([code, stdout]).to.deep.equal([1, ""]);
      expect(stderr).to.match(/RECORDS_INVALID: .*1 bad row among 2 rows.*\n {2}line 3: IDENTIFIER_INVALID/);
    });

    it("rejects a short secret without showing it", async () => {
      const { code, stdout, stderr } = await make(`email,pubKey\nann@example.com,${one.pubKey}`, "hunter2");
      expect([code, stdout]).to.deep.equal([2, ""]);
      expect(stderr).to.include("SECRET_TOO_SHORT").and.not.include("hunter2");
    });
  });

  describe("build-file", () => {
    const build = (path: string, ...more: string[]) =>
      keyroot.json(["build-file", "--records", path, "--files", out(), ...more]);

    it("builds the same files from JSON lines and from CSV", async () => {
      const records = sampleRecords(25);
      const rows = [
        ["keyID", "userID", "pubKey"],
        ...records.map((record) => [record.keyID, record.userID, record.pubKey]),
      ];
      const csv = `\ufeff${rows.map((cells) => cells.map((cell) => `"${cell}"`).join(",")).join("\r\n")}`;
      const paths = [await write("users.jsonl", jsonl(records)), await write("users.csv", csv)];
      const expected = [...cutIntoFiles(RecordTable.of(records), 10)];
      for (const path of paths) {
        const { code, json } = await build(path, "--users-per-file", "10");
        expect(code).to.equal(0);
        const files = expected.map(({ tree, records: { length: users } }) => {
          return { root: tree.root, users, path: join(out(), `${tree.root}.json`) };
        });
        expect(json).to.deep.equal({ users: 25, files });
        for (const file of expected) {
          expect(await readFile(join(out(), `${file.tree.root}.json`), "utf8")).to.equal(textOf(file));
        }
        expect(await readdir(out())).to.have.lengthOf(3);
      }
    });

    it("lists bad rows with their line numbers, and writes nothing", async () => {
      const path = await write("users.jsonl", `${jsonl(sampleRecords(2))}nonsense\n${jsonl(sampleRecords(1))}`);
      const { code, stdout, stderr } = await keyroot.run(["build-file", "--records", path, "--files", out()]);
      expect([code, stdout]).to.deep.equal([1, ""]);
      expect(stderr).to.match(
        /^RECORDS_INVALID: .* 2 bad rows among 4 rows\. Nothing was written\. .*\n {2}line 3: .*\n {2}line 4: .*\n$/,
      );
      const { json } = await build(path);
      const rows = json.error?.["actual"] as { line: number; code: string }[];
      expect(rows.map(({ line, code }) => [line, code])).to.deep.equal([
        [3, "JSON_FORBIDDEN_TOKEN"],
        [4, "DUPLICATE_USER"],
      ]);
      expect(await readdir(folder.path)).to.deep.equal(["users.jsonl"]);
    });

    it("lists 20 bad rows, and counts the others", async () => {
      const path = await write("users.jsonl", "nonsense\n".repeat(50));
      const { stderr } = await keyroot.run(["build-file", "--records", path, "--files", out()]);
      expect(stderr.match(/line \d+/g)).to.have.lengthOf(20);
      expect(stderr).to.match(/\n {2}and 30 more\n$/);
    });

    it("exits with code 2 if the file of records is missing or empty", async () => {
      const cases = [
        [await write("empty.jsonl", "\n"), "NO_RECORDS"],
        [inFolder("none.jsonl"), "FILE_UNREADABLE"],
        [folder.path, "FILE_UNREADABLE"],
      ] as const;
      const ran = await Promise.all(cases.map(([path]) => build(path)));
      expect(ran.map(({ code, error }) => [code, error])).to.deep.equal(cases.map(([, error]) => [2, error]));
      expect(await readdir(folder.path)).to.deep.equal(["empty.jsonl"]);
    });

    it("reads records from standard input with -", async () => {
      const records = jsonl(sampleRecords(3));
      const args = ["build-file", "--records", "-", "--files", out()];
      const { code, json } = await keyroot.json(args, { input: records });
      expect([code, json["users"]]).to.deep.equal([0, 3]);
      const invalid = await keyroot.run(args, { input: `nonsense\n${records}` });
      expect([invalid.code, invalid.stdout]).to.deep.equal([1, ""]);
      expect(invalid.stderr).to.match(
        /^RECORDS_INVALID: Standard input has 1 bad row among 4 rows\. Nothing was written\. .*\n {2}line 1: /,
      );
      const { json: empty } = await keyroot.json(args, { input: "" });
      expect(empty.error).to.include({ code: "NO_RECORDS" });
    });

    it("reads records from a pipe", async () => {
      const records = await write("users.jsonl", jsonl(sampleRecords(3)));
      const piped = [
        "-c",
        'cat "$0" | "$@"',
        records,
        ...keyroot.words,
        "build-file",
        "--records",
        "/dev/stdin",
        "--files",
        out(),
      ];
      const child = spawn("sh", piped, { stdio: "ignore", env: environment({}) });
      expect(await once(child, "exit")).to.deep.equal([0, null]);
      expect(await readdir(out())).to.have.lengthOf(1);
    });

    it("exits with code 3 and leaves no partial file if it cannot write the file", async () => {
      const records = await write("users.jsonl", jsonl(sampleRecords(1000)));
      const ran = await keyroot.json(["build-file", "--records", records, "--files", records]);
      expect(ran).to.include({ code: 3, error: "FILE_UNWRITABLE" });
      // Limit files to 50 KiB. A file of 1,000 users has 0.8 MB.
      const limited = [
        "-c",
        'ulimit -f 100; exec "$@"',
        "sh",
        ...keyroot.words,
        "build-file",
        "--records",
        records,
        "--files",
        out(),
        ...["--users-per-file", "1000"],
      ];
      const child = spawn("sh", limited, { stdio: ["ignore", "ignore", "pipe"], env: environment({}) });
      const limitedRun = await outcomeOf(child);
      expect(limitedRun.code).to.equal(3);
      expect(limitedRun.stderr).to.match(/^FILE_UNWRITABLE: .*\n$/);
      expect(await readdir(out())).to.be.empty;
    });

    it("leaves no partial file at Ctrl-C", async () => {
      const records = await write("users.jsonl", jsonl(sampleRecords(20_000)));
      await mkdir(out());
      const watcher = watch(out());
      const written = once(watcher, "change");
      const child = keyroot.start(["build-file", "--records", records, "--files", out(), "--users-per-file", "10000"]);
      const ending = outcomeOf(child);
      await written;
      watcher.close();
      child.kill("SIGINT");
      expect(await ending).to.deep.equal({ code: 130, stdout: "", stderr: "" });
      expect((await readdir(out())).filter((name) => name.startsWith("."))).to.be.empty;
    });
  });

  describe("check-file", () => {
    const good = makeMerkleFile(sampleRecords(5));
    const [one = never(), two = never()] = sampleRecords(2);
    /** Writes text to a file that is named after a root. */
    const asRoot = (content: string, root = good.tree.root) => write(`${root}.json`, content);
    const check = async (...paths: string[]) => {
      const { code, json, error } = await keyroot.json(["check-file", ...paths]);
      return [code, json.error?.["step"], error];
    };

    it("accepts the files that build-file writes", async () => {
      const records = await write("users.jsonl", jsonl(sampleRecords(25)));
      await keyroot.run(["build-file", "--records", records, "--files", out(), "--users-per-file", "10"]);
      const paths = (await readdir(out())).map((name) => join(out(), name));
      const { code, json } = await keyroot.json(["check-file", ...paths]);
      expect([code, json["users"]]).to.deep.equal([0, 25]);
      const files = json["files"] as Record<string, unknown>[];
      expect(files.map(({ path }) => path)).to.deep.equal(paths);
      expect(files.map(({ root }) => `${root as string}.json`)).to.deep.equal(paths.map((path) => basename(path)));
      expect(
        files.map(({ users, levels }) => `${users as number} users, ${levels as number} levels`).sort(),
      ).to.deep.equal(["10 users, 5 levels", "10 users, 5 levels", "5 users, 4 levels"]);
      const { stdout } = await keyroot.run(["check-file", ...paths]);
      expect(stdout.match(/\.json is valid: /g)).to.have.lengthOf(3);
    });

    it("rejects a file that is not named after its root", async () => {
      expect(await check(await asRoot(textOf(good), "0".repeat(64)))).to.deep.equal([1, "tree", "ROOT_MISMATCH"]);
      const root = good.tree.root;
      const names = ["tree.json", root, `${root.toUpperCase()}.json`, `${root}.json.bak`];
      const ran = await Promise.all(names.map(async (name) => check(await write(name, textOf(good)))));
      expect(ran).to.deep.equal(names.map(() => [1, "file", "FILE_NAME"]));
    });

    it("rejects a changed file", async () => {
      const other = makeMerkleFile(sampleRecords(7));
      const untouched = await asRoot(textOf(other), other.tree.root);
      for (const [content, code] of [
        [textOf(good).replace(good.records[0]?.pubKey ?? "", good.records[1]?.pubKey ?? ""), "ROOT_MISMATCH"],
        [textOf(good).replace('"leaves":5', '"leaves":6'), "TREE_MISMATCH"],
        [textOf(good).slice(0, -1), "JSON_INVALID"],
        ["", "JSON_INVALID"],
      ] as const) {
        const path = await asRoot(content);
        const refused = await keyroot.json(["check-file", untouched, path]);
        expect(refused).to.include({ code: 1, error: code });
        expect(refused.message).to.match(new RegExp(`^${path}: `));
      }
    });

    it("rejects a record that verifiers reject, even in a valid tree", async () => {
      const forged = makeMerkleFile([{ ...one, keyID: two.keyID }, two]);
      const path = await asRoot(textOf(forged), forged.tree.root);
      expect(await check(path)).to.deep.equal([1, "record", "KEY_ID_MISMATCH"]);
    });

    it("exits with code 2 if the path is missing or not a file", async () => {
      const ran = await Promise.all(
        [inFolder(`${good.tree.root}.json`), folder.path, "/dev/zero"].map((path) => check(path)),
      );
      for (const refusal of ran) expect(refusal).to.deep.equal([2, undefined, "FILE_UNREADABLE"]);
    });
  });
});
