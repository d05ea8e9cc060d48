import { expect } from "chai";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ArgumentError, ERROR_CODES, KeyrootError, TransportError } from "../../packages/keyroot/src/errors.ts";

const project = join(import.meta.dirname, "../..");

/** The text of all sources in these folders, except the list of codes itself. */
function sourcesIn(...folders: string[]): string {
  const paths = folders.flatMap((folder) =>
    readdirSync(join(project, folder), { recursive: true, encoding: "utf8" }).map((path) => join(folder, path)),
  );
  const sources = paths.filter((path) => path.endsWith(".ts") && path !== join("packages/keyroot/src", "errors.ts"));
  return sources.map((path) => readFileSync(join(project, path), "utf8")).join("\n");
}

describe("errors", () => {
  describe("ERROR_CODES", () => {
    it("contains every code once", () => {
      expect(new Set(ERROR_CODES).size).to.equal(ERROR_CODES.length);
    });

    it("contains only codes that the sources throw", () => {
      const sources = sourcesIn("packages/keyroot/src", "packages/operator/src", "demo", "tasks");
      // A comparison with a code, or an expected code in the demo, does not count.
      const unused = ERROR_CODES.filter((code) => !new RegExp(`(?<!=== |expectedCode: )"${code}"`).test(sources));
      expect(unused).to.deep.equal([]);
    });

    it("matches docs/errors.md, which has one row per code and no other rows", () => {
      const rows = readFileSync(join(project, "docs/errors.md"), "utf8").matchAll(/^\| `([A-Z0-9_]+)` +\|/gm);
      expect(Array.from(rows, ([, code]) => code).sort()).to.deep.equal([...ERROR_CODES].sort());
    });
  });

  describe("KeyrootError", () => {
    it("carries name, code, message, cause, and the expected and actual values", () => {
      const cause = new Error("why");
      const error = new ArgumentError("TREE_EMPTY", "No value.", { expected: 1, actual: 0, cause });
      expect(error).to.be.instanceOf(KeyrootError).and.instanceOf(Error);
      expect(error).to.include({
        name: "ArgumentError",
        code: "TREE_EMPTY",
        message: "No value.",
        expected: 1,
        actual: 0,
        cause,
      });
    });

    it("has no cause unless one is given", () => {
      expect(Object.hasOwn(new TransportError("TIMEOUT", "Too late."), "cause")).to.be.false;
    });
  });
});
