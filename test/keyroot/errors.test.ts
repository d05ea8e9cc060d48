import { expect } from "chai";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  ArgumentError,
  ERROR_CODES,
  KeyrootError,
  TransportError,
  VerificationError,
} from "../../packages/keyroot/src/errors.ts";
import { CLIENT_ERROR_CODES, ServiceError, TransportError as ClientTransportError } from "@keyroot/client/internal";
import { OPERATOR_ERROR_CODES } from "@keyroot/operator/shared";
import { SERVICE_ERROR_CODES } from "../../packages/service/src/api/base/errors.ts";

const project = join(import.meta.dirname, "../..");

/** Error codes of each package, and the source folders that may throw them. */
const PACKAGES = {
  keyroot: { codes: ERROR_CODES, folders: ["packages/keyroot/src"] },
  "@keyroot/client": { codes: CLIENT_ERROR_CODES, folders: ["packages/client/src", "packages/service/src"] },
  "@keyroot/operator": { codes: OPERATOR_ERROR_CODES, folders: ["packages/operator/src"] },
  "@keyroot/service": { codes: SERVICE_ERROR_CODES, folders: ["packages/service/src"] },
};
const ALL_CODES: readonly string[] = [
  ...[...ERROR_CODES, ...CLIENT_ERROR_CODES, ...OPERATOR_ERROR_CODES, ...SERVICE_ERROR_CODES],
  "DEMO_FAILED",
];

/** Returns the source code in these folders, without the lists of error codes. */
function sourcesIn(folders: readonly string[]): string {
  const paths = folders.flatMap((folder) =>
    readdirSync(join(project, folder), { recursive: true, encoding: "utf8" }).map((path) => join(folder, path)),
  );
  const sources = paths.filter((path) => path.endsWith(".ts") && !/src\/error(?:s|Codes)\.ts$/.test(path));
  return sources.map((path) => readFileSync(join(project, path), "utf8")).join("\n");
}

describe("errors", () => {
  describe("error codes", () => {
    it("each belong to only one package", () => {
      expect(new Set(ALL_CODES).size).to.equal(ALL_CODES.length);
    });

    for (const [name, { codes, folders }] of Object.entries(PACKAGES)) {
      it(`are all thrown by the source code of ${name}`, () => {
        const sources = sourcesIn(folders);
        // A comparison with an error code does not count as a use.
        const unused = codes.filter((code) => !new RegExp(`(?<!=== )"${code}"`).test(sources));
        expect(unused).to.deep.equal([]);
      });
    }

    it("are not in the library if they belong to other packages", () => {
      const sources = sourcesIn(["packages/keyroot/src"]);
      const foreign = [...CLIENT_ERROR_CODES, ...OPERATOR_ERROR_CODES, ...SERVICE_ERROR_CODES].filter((code) =>
        sources.includes(`"${code}"`),
      );
      expect(foreign).to.deep.equal([]);
    });

    it("match the rows of docs/errors.md", () => {
      const rows = readFileSync(join(project, "docs/errors.md"), "utf8").matchAll(/^\| `([A-Z0-9_]+)` +\|/gm);
      expect(Array.from(rows, ([, code]) => code).sort()).to.deep.equal([...ALL_CODES].sort());
    });
  });

  describe("advice", () => {
    const of = (error: (code: (typeof ERROR_CODES)[number]) => KeyrootError, advice: string) =>
      ERROR_CODES.filter((code) => error(code).advice === advice);

    it("is `warn` for every VerificationError", () => {
      expect(of((code) => new VerificationError("root", code, ""), "warn")).to.deep.equal(ERROR_CODES);
    });

    it("is `warn`, `developer`, `retry` or `none` for every other error", () => {
      for (const error of [
        (code: (typeof ERROR_CODES)[number]) => new ArgumentError(code, ""),
        (code: (typeof ERROR_CODES)[number]) => new TransportError(code, ""),
        (code: (typeof ERROR_CODES)[number]) => new ServiceError(400, code, ""),
      ]) {
        const [warn = 0, developer = 0, retry = 0, none = 0] = ["warn", "developer", "retry", "none"].map(
          (each) => of(error, each).length,
        );
        expect(warn + developer + retry + none).to.equal(ERROR_CODES.length);
        expect(of(error, "none")).to.deep.equal(["ABORTED"]);
      }
    });

    it("depends on the error's code", () => {
      expect(new ArgumentError("PUBLIC_KEY_LENGTH", "").advice).to.equal("warn");
      expect(new ClientTransportError("SERVICE_ANSWER_INVALID", "").advice).to.equal("warn");
      expect(new TransportError("TIMEOUT", "").advice).to.equal("retry");
      expect(new TransportError("ABORTED", "")).to.include({ name: "AbortError", advice: "none" });
      expect(new ServiceError(503, "UNAVAILABLE", "").advice).to.equal("retry");
      expect(new ServiceError(400, "FIELD_INVALID", "").advice).to.equal("developer");
      expect(new ArgumentError("ARGUMENT_INVALID", "").advice).to.equal("developer");
    });
  });

  describe("KeyrootError", () => {
    it("contains the code, the message and the details", () => {
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

    it("keeps its code, advice and step in JSON and in a structured clone", () => {
      const evidence = { source: "own-node", storageProof: true } as const;
      const error = new VerificationError("root", "NOT_PUBLISHED", "No root.", { expected: 1, evidence });
      const fields = {
        ...{ name: "VerificationError", code: "NOT_PUBLISHED", advice: "warn", step: "root", message: "No root." },
        ...{ docs: error.docs, expected: 1, evidence },
      };
      expect(JSON.parse(JSON.stringify(error))).to.deep.equal(fields);
      expect(structuredClone(error.toJSON())).to.deep.equal(fields);
    });

    it("has values of JSON for any expected and actual value, and no cause", () => {
      const cycle: Record<string, unknown> = {};
      cycle["cycle"] = cycle;
      const shown: [actual: unknown, inJson: unknown][] = [
        [12n, "12"],
        [{ chainId: 1n }, { chainId: "1" }],
        [() => 1, undefined],
        [Symbol("key"), undefined],
        [cycle, undefined],
      ];
      for (const [actual, inJson] of shown) {
        const error = new ArgumentError("RECORD_INVALID", "No record.", { actual, cause: new Error("why") });
        const clone = structuredClone(error.toJSON()) as { code: string; actual?: unknown };
        expect(clone).to.include({ code: "RECORD_INVALID", advice: "developer" }).and.not.have.property("cause");
        expect(clone.actual).to.deep.equal(inJson);
        expect(JSON.parse(JSON.stringify({ error }))).to.deep.equal({ error: clone });
      }
    });

    it("links to the description of its code", () => {
      const { docs } = new TransportError("TIMEOUT", "Too late.");
      expect(docs).to.equal("https://github.com/keyroot/keyroot/blob/main/docs/errors.md#TIMEOUT");
    });

    it("has a cause property only if the caller passes a cause", () => {
      expect(Object.hasOwn(new TransportError("TIMEOUT", "Too late."), "cause")).to.be.false;
    });
  });
});
