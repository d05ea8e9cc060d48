import { expect } from "chai";
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { KINDS, type Trials } from "../../support/disk/faultyDiskProgram.ts";

const LIBRARY = fileURLToPath(new URL("../../support/disk/faultyDisk.c", import.meta.url));
const PROGRAM = fileURLToPath(new URL("../../support/disk/faultyDiskProgram.ts", import.meta.url));

/** The scenarios of the program, with a description of what each stores. */
const SCENARIOS = {
  journal: "the publisher's journal",
  state: "a state database",
  store: "the folder of Merkle-tree files",
};

describe("after a failed system call", () => {
  let folder: string;
  let library: string;

  before(function () {
    // The library that makes system calls fail needs Linux and a C compiler.
    if (process.platform !== "linux" || spawnSync("cc", ["--version"]).status !== 0) this.skip();
    folder = mkdtempSync(join(tmpdir(), "keyroot-disk-"));
    library = join(folder, "faultyDisk.so");
    execFileSync("cc", ["-shared", "-fPIC", "-O1", "-o", library, LIBRARY, "-ldl"]);
  });

  after(() => {
    if (folder) rmSync(folder, { recursive: true });
  });

  for (const [scenario, what] of Object.entries(SCENARIOS))
    it(`${what} contains exactly the data whose writing was confirmed`, async () => {
      const [dir, control] = [join(folder, scenario), join(folder, `${scenario}.control`)];
      mkdirSync(dir);
      const env = { ...process.env, LD_PRELOAD: library, FAULTY_FOLDER: dir, FAULTY_CONTROL: control };
      const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, dir, control, scenario], { env });
      const { hits, codes, findings } = JSON.parse(stdout) as Trials;
      expect(findings).to.deep.equal([]);
      expect(codes).to.deep.equal(["FILE_UNWRITABLE"]);
      for (const kind of KINDS) expect(hits[kind], kind).to.be.at.least(2);
    });
});
