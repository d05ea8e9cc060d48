import { expect } from "chai";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import {
  readStackFile,
  removeStackFile,
  stackFilePath,
  writeStackFile,
  type StackFile,
} from "../../../packages/operator/src/commands/stackFile.ts";
import { closedAfterEach, failure, freePort, hold, portOf, temporaryFolder } from "../../support/support.ts";

describe("the stack file", () => {
  const project = temporaryFolder();
  const closing = closedAfterEach();
  let stack: StackFile;

  beforeEach(async () => {
    stack = {
      rpcUrl: `http://127.0.0.1:${portOf(closing(await hold(0)))}`,
      merkleUrl: "http://127.0.0.1:8546",
      filesDir: "/tmp/keyroot-x",
      contract: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
      chainId: 31_337,
      keyType: "x25519",
      beaconUrl: "http://127.0.0.1:8549",
      pid: process.pid,
    };
  });

  const writeText = async (text: string) => {
    const path = stackFilePath(project.path);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  };

  describe("readStackFile", () => {
    it("returns the written values", async () => {
      expect(await writeStackFile(project.path, stack)).to.be.true;
      expect(await readStackFile(project.path)).to.deep.equal(stack);
    });

    it("returns undefined in a project without a stack file", async () => {
      expect(await readStackFile(project.path)).to.be.undefined;
    });

    it("ignores a file whose process has ended", async () => {
      const child = spawn(process.execPath, ["--version"], { stdio: "ignore" });
      await once(child, "exit");
      await writeText(JSON.stringify({ ...stack, pid: child.pid }));
      expect(await readStackFile(project.path)).to.be.undefined;
    });

    it("ignores a file whose process id now belongs to another program", async () => {
      await writeText(JSON.stringify({ ...stack, rpcUrl: `http://127.0.0.1:${await freePort()}` }));
      expect(await readStackFile(project.path)).to.be.undefined;
    });

    it("omits unknown fields", async () => {
      await writeText(JSON.stringify({ ...stack, more: 1 }));
      expect(await readStackFile(project.path)).to.deep.equal(stack);
    });

    it("reports a file that cannot be read", async () => {
      await mkdir(stackFilePath(project.path), { recursive: true });
      expect(await failure(readStackFile(project.path))).to.have.property("code", "EISDIR");
    });

    for (const text of ["", "{", "null", "1", "[]", "{}"]) {
      it(`ignores a file with the text ${JSON.stringify(text)}`, async () => {
        await writeText(text);
        expect(await readStackFile(project.path)).to.be.undefined;
      });
    }

    const malformed = {
      rpcUrl: [undefined, 1, "8545", "http://example.com:8545", "http://127.0.0.1:8545/x", "http://127.0.0.1:99999"],
      merkleUrl: [null, "https://127.0.0.1:8546", "http://127.0.0.1"],
      beaconUrl: [null, "https://127.0.0.1:8549"],
      filesDir: [null, "", "files", ["/tmp"]],
      contract: ["0x", "5FbDB2315678afecb367f032d93F642f64180aa3", `0x${"g".repeat(40)}`],
      chainId: ["31337", 0, 1.5, -1],
      keyType: [null, "x448", 1],
      pid: ["1", 0, -1, 0.5, 2 ** 53],
    };
    for (const [field, values] of Object.entries(malformed)) {
      for (const value of values) {
        it(`ignores a file ${value === undefined ? "without" : `with the value ${JSON.stringify(value)} for`} ${field}`, async () => {
          await writeText(JSON.stringify({ ...stack, [field]: value }));
          expect(await readStackFile(project.path)).to.be.undefined;
        });
      }
    }
  });

  describe("writeStackFile", () => {
    it("keeps the file of another running stack", async () => {
      await writeStackFile(project.path, stack);
      expect(await writeStackFile(project.path, { ...stack, chainId: 1 })).to.be.false;
      expect(await readStackFile(project.path)).to.deep.equal(stack);
    });

    it("replaces the file of a stack that has ended", async () => {
      await writeText("{");
      expect(await writeStackFile(project.path, stack)).to.be.true;
      expect(await readStackFile(project.path)).to.deep.equal(stack);
    });

    it("leaves no temporary file behind", async () => {
      await writeStackFile(project.path, stack);
      expect(await readdir(dirname(stackFilePath(project.path)))).to.deep.equal(["stack.json"]);
    });
  });

  describe("removeStackFile", () => {
    it("removes the stack's own file", async () => {
      await writeStackFile(project.path, stack);
      removeStackFile(project.path, stack);
      expect(await readdir(dirname(stackFilePath(project.path)))).to.be.empty;
    });

    it("keeps the file of another stack of the same process", async () => {
      await writeStackFile(project.path, stack);
      removeStackFile(project.path, { ...stack, rpcUrl: "http://127.0.0.1:1" });
      expect(await readStackFile(project.path)).to.deep.equal(stack);
    });

    it("keeps a malformed file", async () => {
      await writeText("{");
      removeStackFile(project.path, stack);
      expect(await readFile(stackFilePath(project.path), "utf8")).to.equal("{");
    });

    it("does nothing without a file", () => {
      removeStackFile(project.path, stack);
    });
  });
});
