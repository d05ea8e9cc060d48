import { expect } from "chai";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { KeyrootError } from "keyroot";
import { loadModule } from "keyroot/internal/engine";
import { failure } from "../../support/support.ts";

const PACKAGES = join(import.meta.dirname, "../../../packages");

describe("code that is loaded on demand", () => {
  it("is the module, if it can be loaded", async () => {
    expect(await loadModule(() => import("keyroot"))).to.have.property("KeyrootError", KeyrootError);
  });

  it("throws MODULE_UNAVAILABLE with the platform's error as its cause, if it cannot be loaded", async () => {
    const cause = Object.assign(new Error("Loading chunk 7 failed."), { name: "ChunkLoadError" });
    const failing: (() => Promise<never>)[] = [
      () => Promise.reject(cause),
      () => {
        throw cause;
      },
    ];
    for (const load of failing) {
      const error = await failure(loadModule(load));
      expect(error).to.include({ name: "TransportError", code: "MODULE_UNAVAILABLE", advice: "retry", cause });
    }
  });

  for (const folder of ["keyroot", "client"]) {
    it(`is loaded by loadModule everywhere in packages/${folder}`, () => {
      const src = join(PACKAGES, folder, "src");
      const paths = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));
      const sources = paths
        .map((path) => readFileSync(join(src, path), "utf8").replaceAll(/^\s*\/?\*.*$/gm, ""))
        .join("\n");
      const all = [...sources.matchAll(/(?<!typeof )\bimport\(/g)];
      const guarded = [...sources.matchAll(/\bloadModule\(\s*(?:async )?\(\) =>\s*(?:\(await )?import\(/g)];
      expect(guarded).to.not.be.empty;
      expect(all).to.have.lengthOf(guarded.length);
    });
  }
});
