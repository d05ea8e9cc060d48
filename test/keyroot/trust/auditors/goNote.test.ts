import { expect } from "chai";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAuditorKey } from "keyroot/auditors";
import { VECTORS } from "../../../support/data/vectors.ts";
import { DebianPackages } from "../../../support/processes/debianPackages.ts";
import { testAll } from "../../../support/testSize.ts";

const PACKAGES = new DebianPackages("go", [
  ...["golang-1.19-go", "golang-1.19-src"],
  ...["golang-golang-x-crypto-dev", "golang-golang-x-mod-dev", "golang-golang-x-sys-dev"],
]);
const PROGRAM = fileURLToPath(new URL("go/notes.go", import.meta.url));
const SET = readFileSync(new URL("statements/statements.json", VECTORS), "utf8");

interface Vector {
  name: string;
  verdict: { verified?: { auditors: string[] } };
}

// The first run downloads 83 MB of Debian packages.
if (testAll || PACKAGES.areCached)
  describe("the Go package golang.org/x/mod/sumdb/note", () => {
    let folder: string;
    let verdicts: Record<string, string>;

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), "keyroot-test-"));
      PACKAGES.unpack(folder);
      const GOROOT = join(folder, "usr/lib/go-1.19");
      const GOPATH = join(folder, "usr/share/gocode");
      const env = { GOROOT, GOPATH, GOCACHE: join(folder, "cache"), GO111MODULE: "off", PATH: "/usr/bin:/bin" };
      const output = execFileSync(join(GOROOT, "bin/go"), ["run", PROGRAM], { input: SET, env, encoding: "utf8" });
      verdicts = JSON.parse(output) as Record<string, string>;
    });

    after(() => rm(folder, { recursive: true }));

    it("verifies the same signatures as the library", () => {
      const { vectors } = JSON.parse(SET) as { vectors: Vector[] };
      const accepted = vectors.filter(({ verdict }) => verdict.verified !== undefined);
      expect(accepted).to.not.be.empty;
      for (const { name, verdict } of accepted) {
        const names = verdict.verified?.auditors.map((key) => parseAuditorKey(key).name).sort();
        expect(verdicts[name]?.split(" ").sort(), name).to.deep.equal(names);
      }
    });

    for (const name of ["false-signature", "not-canonical-signature", "other-text"])
      it(`rejects the false signatures in the vector statement-${name}`, () => {
        expect(verdicts[`statement-${name}`]).to.equal("false signature");
      });

    for (const name of ["crlf", "no-empty-line", "no-last-line-end", "hyphen", "not-utf8", "too-large"])
      it(`rejects the malformed note in the vector statement-${name}`, () => {
        expect(verdicts[`statement-${name}`]).to.equal("malformed note");
      });

    it("counts an auditor with two signatures once", () => {
      expect(verdicts["statement-same-twice"]).to.equal("alice.example");
    });
  });
