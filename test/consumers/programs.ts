import { transform } from "esbuild";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { PublishedKey } from "../support/packages/publishedKey.ts";
import type { Outcome, CheckInput } from "./app/check.ts";

export const APP = join(import.meta.dirname, "app");

export function inputOf({ stack, record, swapped }: PublishedKey): CheckInput {
  const { rpcUrl: rpc, merkleUrl, chainId, contract } = stack;
  return { userID: record.userID, published: record.pubKey, swapped, options: { rpc, merkleUrl, chainId, contract } };
}

/** The result that `check` must have for a published key. */
export function expectedOutcome({ record: { pubKey } }: PublishedKey): Outcome {
  return {
    ...{ verified: pubKey, proven: pubKey, created: [pubKey, pubKey], bundled: pubKey },
    ...{ swapped: Array<string>(4).fill("KEY_MISMATCH"), client: "ARGUMENT_INVALID" },
  };
}

/** `check.ts` in JavaScript. */
export async function checkProgram(format: "esm" | "cjs"): Promise<string> {
  const source = await readFile(join(APP, "check.ts"), "utf8");
  return (await transform(source, { loader: "ts", format, target: "es2022" })).code;
}

/** The program for servers. It checks the input in its first argument, prints the outcome, and loads the partner's client. */
export const MAIN = {
  esm: `import { PartnerClient } from "@keyroot/client/partner";
import { check } from "./check.js";
if (typeof PartnerClient !== "function") throw new Error("a class is missing");
console.log(JSON.stringify(await check(JSON.parse(process.argv[2]))));
`,
  cjs: `const { verifyBundle } = require("keyroot/bundle");
const { PartnerClient } = require("@keyroot/client/partner");
const { check } = require("./check.cjs");
if (typeof PartnerClient !== "function" || typeof verifyBundle !== "function") throw new Error("a class is missing");
check(JSON.parse(process.argv[2])).then((outcome) => console.log(JSON.stringify(outcome)));
`,
} as const;

/** The program for browsers. It makes `check` a global function. */
export const BROWSER_MAIN = `import { check } from "./check.js";
globalThis.check = check;
`;
export const BROWSER_PAGE = `<!doctype html><title>Keyroot</title><script type="module" src="/main.js"></script>
`;
