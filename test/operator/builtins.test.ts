import { expect } from "chai";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const ROOT = join(import.meta.dirname, "../..");

/** Loads all entries of both packages after `merkle-tree-gen`. Calls their functions, and prints the error codes. */
const PROGRAM = `
import { createRequire } from "node:module";
createRequire("${ROOT}/package.json")("merkle-tree-gen").fromArray({ array: ["a"] }, () => undefined);
const loaded = [];
for (const name of ["operator", "service"]) {
  const { default: { exports } } = await import("${ROOT}/packages/" + name + "/package.json", { with: { type: "json" } });
  for (const entry of Object.keys(exports)) {
    if (entry.endsWith(".json")) continue;
    loaded.push(await import("@keyroot/" + name + entry.slice(1)));
  }
}
const all = Object.assign({}, ...loaded);
const calls = {
  publish: () => all.publish([], {}),
  makePlan: () => all.makePlan(undefined, undefined, {}),
  executeBySafe: () => all.executeBySafe([], {}, {}),
  audit: () => all.audit({}),
  watch: () => all.watch({}).next(),
  pollEvents: () => all.pollEvents({}).next(),
  startService: () => all.startService({}),
};
const codes = {};
for (const [name, call] of Object.entries(calls)) codes[name] = await Promise.resolve().then(call).catch(({ code, message }) => code ?? message);
console.log(JSON.stringify({ count: loaded.length, codes }, (_, value) => value ?? "none"));
`;

describe("the packages @keyroot/operator and @keyroot/service", () => {
  it("throw BUILTIN_REPLACED after merkle-tree-gen has replaced methods of Array", async () => {
    const run = promisify(execFile)(process.execPath, ["--input-type=module", "--eval", PROGRAM], { cwd: ROOT });
    const { count, codes } = JSON.parse((await run).stdout) as { count: number; codes: Record<string, string> };
    expect(count).to.equal(13);
    expect(Object.keys(codes)).to.have.length(7);
    expect(new Set(Object.values(codes)), JSON.stringify(codes)).to.deep.equal(new Set(["BUILTIN_REPLACED"]));
  });
});
