import { expect } from "chai";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  ArgumentError,
  ERROR_CODES,
  KeyrootError,
  TransportError,
  VerificationError,
  verifying,
} from "../../packages/keyroot/src/errors.ts";

const project = join(import.meta.dirname, "../..");

/** The text of all sources in these folders, but for the list of the codes itself. */
function sourcesIn(...folders: string[]): string {
  const paths = folders.flatMap((folder) =>
    readdirSync(join(project, folder), { recursive: true, encoding: "utf8" }).map((path) => join(folder, path)),
  );
  const sources = paths.filter((path) => path.endsWith(".ts") && path !== join("packages/keyroot/src", "errors.ts"));
  return sources.map((path) => readFileSync(join(project, path), "utf8")).join("\n");
}

describe("errors", () => {
  describe("ERROR_CODES", () => {
    it("has every code once", () => {
      expect(new Set(ERROR_CODES).size).to.equal(ERROR_CODES.length);
    });

    it("has no code that nobody throws", () => {
      const sources = sourcesIn("packages/keyroot/src", "packages/operator/src", "demo", "tasks");
      // A comparison, or an expectation of the story, throws nothing.
      const unused = ERROR_CODES.filter((code) => !new RegExp(`(?<!=== |refusal: )"${code}"`).test(sources));
      expect(unused).to.deep.equal([]);
    });

    it("is explained in docs/errors.md: one row a code, and no other", () => {
      const rows = readFileSync(join(project, "docs/errors.md"), "utf8").matchAll(/^\| `([A-Z0-9_]+)` +\|/gm);
      expect(Array.from(rows, ([, code]) => code).sort()).to.deep.equal([...ERROR_CODES].sort());
    });
  });

  describe("KeyrootError", () => {
    it("carries class, code, message, cause, and what was expected and found", () => {
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

  describe("verifying", () => {
    it("returns what the check returns", () => {
      expect(verifying("file", "The file", () => 7)).to.equal(7);
    });

    it("makes a bad argument a failed verification, with the same code", () => {
      const cause = new ArgumentError("TREE_EMPTY", "No value.", { expected: 1, actual: 0 });
      const check = () => {
        throw cause;
      };
      expect(() => verifying("file", "values", check) as unknown)
        .to.throw(VerificationError, "values: No value.")
        .that.includes({ step: "file", code: "TREE_EMPTY", expected: 1, actual: 0, cause });
    });

    it("lets all other errors through", () => {
      for (const error of [
        new TransportError("TIMEOUT", ""),
        new VerificationError("key", "KEY_MISMATCH", ""),
        new TypeError(),
      ]) {
        const check = () => {
          throw error;
        };
        expect(() => verifying("file", "values", check) as unknown).to.throw(error);
      }
    });
  });
});
