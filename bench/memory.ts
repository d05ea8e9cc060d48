/**
 * Measures the memory that a hostile response from an endpoint or file host takes. The result is the peak of resident
 * memory, minus the peak of the same verification with a short response. Each verification has its own process, and the
 * server has another. The benchmark needs Linux. It exits with 1 if the memory exceeds the limit in
 * docs/threat-model.md.
 */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { ANY_KEY, oneEndpoint } from "keyroot";
import { DEFAULT_LIMITS, RPC_LIMITS } from "keyroot/internal/transport";
import { makeMerkleFile, type MerkleFile, serializeMerkleFile } from "keyroot/internal/merkle";
import { sampleRecords } from "../test/support/samples.ts";
import { serve } from "../test/support/servers/servers.ts";
import { progress, report, SMALL } from "./runner/report.ts";
import { verifyOnce } from "../test/support/verifier/verifyOnce.ts";

/** The size limits for responses of endpoints and of file hosts, in bytes. */
const LIMITS = { rpc: RPC_LIMITS.maxBytes, file: DEFAULT_LIMITS.fileBytes } as const;
type Kind = keyof typeof LIMITS;
/** The number of measurements per response. The highest peak counts. */
const RUNS = SMALL ? 1 : 3;
/** The number of users in a valid file of just under 16 MiB. */
const USERS = SMALL ? 10 : 18_000;
/** The memory limit in docs/threat-model.md, as a multiple of the size limit. */
const HIGHEST = 8;

/** The text that each kind of hostile response repeats. */
const SHAPES: Record<string, (i: number) => string> = {
  "nested arrays": () => "[",
  "nested objects": () => '{"a":',
  "empty objects": () => "{},",
  "empty strings": () => '"",',
  "short numbers": () => "0,",
  "long numbers": () => `${"9".repeat(300)},`,
  "one object with many members": (i) => `"${i}":0,`,
  "wide objects": (i) => `{${Array.from({ length: 64 }, (_, j) => `"${i}-${j}":""`).join()}},`,
  "as many objects as the limits allow": (i) => `{"a":"${i}${"x".repeat(82)}"},`,
  "as many members as the limits allow": (i) =>
    `{${Array.from({ length: 50 }, (_, j) => `"member ${j}":"${i}${"x".repeat(23)}"`).join()}},`,
  "as many strings as the limits allow": (i) => `"${i}${"x".repeat(34)}",`,
  "as many strings, outside Latin-1": (i) => `"${i}${"€".repeat(30)}",`,
  "as many names as the limits allow": (i) => `{"n${i}":"${"x".repeat(214)}"},`,
  "as many names and strings as the limits allow": (i) => `{"n${i}":0},${`"${i}${"x".repeat(39)}",`.repeat(5)}`,
  "as many names that are numbers as the limits allow": (i) =>
    `{"499":"${i}"},${`"${i}${"x".repeat(46)}",`.repeat(18)}`,
  "one object, as many names as the limits allow": (i) => `"${i}-${"x".repeat(215)}":"",`,
  "short strings that end like records": (i) => `"${i}}",`,
  "one long string": () => "x".repeat(400),
  "one long string, outside Latin-1": () => "€".repeat(100),
};

/** Returns the body of a response. It is at most as large as the limit for its kind, except for a compression bomb. */
function bodyOf(kind: Kind, shape: string, valid: MerkleFile): Buffer {
  if (shape === "gzip bomb: 1 GiB of white space") return Buffer.alloc(2 ** 30, 0x20);
  if (shape === "a valid file") return Buffer.from([...serializeMerkleFile(valid)].join(""));
  const isObject = shape.startsWith("one object");
  const isText = shape.startsWith("one long string");
  const [open, close] = isObject ? ['{"', '":0}'] : isText ? ['"', '"'] : ["[", "0]"];
  const head =
    kind === "file" ? `{"merkle":{},"lookup":{},"values":${open}` : `{"jsonrpc":"2.0","id":1,"result":${open}`;
  if (shape === "short") return Buffer.from(`${head}${close}}`);
  const body = Buffer.alloc(LIMITS[kind], 0x20);
  const item = SHAPES[shape] ?? (() => "");
  let end = body.write(isObject ? head.slice(0, -1) : head);
  for (let i = 0; end < body.length - 4000; i++) end += body.write(item(i), end);
  end += body.write(isObject ? '"":0}}' : `${close}}`, end);
  return body.subarray(0, end);
}

/** Verifies a key with a server. Prints the error's code, and the peak of this process's memory in bytes. */
async function verify(kind: Kind, url: string, userID: string): Promise<void> {
  const options = { rpc: url, chainId: 1, contract: `0x${"12".repeat(20)}`, merkleUrl: url };
  const limits = { timeoutMs: 120_000 };
  const trust = oneEndpoint(kind === "file" ? {} : { block: "finalized" });
  let code = "verified";
  try {
    await verifyOnce(userID, { ...options, trust, limits, expectedPublicKey: ANY_KEY });
  } catch (error) {
    ({ code } = error as { code: string });
  }
  // Do not use `process.resourceUsage()`. On Linux, it also counts the memory of the process that started this one.
  const [, kibibytes = NaN] = /^VmHWM:\s*(\d+) kB$/m.exec(await readFile("/proc/self/status", "utf8")) ?? [];
  process.stdout.write(JSON.stringify({ code, peak: Number(kibibytes) * 1024 }));
}

/**
 * Serves one hostile response, and verifies with this response in other processes.
 * @returns the highest peak in bytes
 */
async function measure(kind: Kind, shape: string, valid: MerkleFile): Promise<{ code: string; peak: number }> {
  const { root } = valid.tree;
  const body = gzipSync(bodyOf(kind, shape, valid), { level: 1 });
  const answer = (result: string) => JSON.stringify({ jsonrpc: "2.0", id: 1, result });
  const server = await serve((request, response) => {
    void text(request).then((call) => {
      if (call.includes("eth_chainId")) response.end(answer("0x1"));
      else if (call.includes("ee94c797")) response.end(answer(`0x${root}`));
      else if (call.includes("eth_call")) response.end(answer(`0x${"7".padStart(64, "0")}`));
      else response.setHeader("Content-Encoding", "gzip").end(body);
    });
  });
  const highest = { code: "", peak: 0 };
  for (let run = 0; run < RUNS; run++) {
    const { stdout } = await promisify(execFile)(process.execPath, [
      import.meta.filename,
      kind,
      server.url,
      valid.records[0]?.userID ?? "",
    ]);
    const { code, peak } = JSON.parse(stdout) as { code: string; peak: number };
    Object.assign(highest, { code, peak: Math.max(highest.peak, peak) });
  }
  await server.close();
  return highest;
}

const [kind, url, userID = ""] = process.argv.slice(2).filter((word) => word !== "--small");
if (kind !== undefined && url !== undefined) {
  await verify(kind as Kind, url, userID);
} else {
  const valid = makeMerkleFile(sampleRecords(USERS));
  const shapes = SMALL ? ["nested arrays"] : [...Object.keys(SHAPES), "gzip bomb: 1 GiB of white space"];
  const rows: { kind: string; shape: string; code: string; times: number }[] = [];
  for (const kind of ["rpc", "file"] as const) {
    progress(kind);
    const { peak: baseline } = await measure(kind, "short", valid);
    for (const shape of [...shapes, ...(kind === "file" ? ["a valid file"] : [])]) {
      const { code, peak } = await measure(kind, shape, valid);
      rows.push({ kind, shape, code, times: Math.max(0, Math.round(((peak - baseline) / LIMITS.file) * 10) / 10) });
    }
  }
  const highest = Math.max(...rows.map(({ times }) => times));
  const what = `the peak of resident memory above that with a short answer, in multiples of the limit for files of ${LIMITS.file / 2 ** 20} MiB`;
  report({
    figures: { answers: { what: `${what}; gzipped over HTTP`, rows } },
    ratios: [{ what: `hostile answers: ${what}`, value: highest, atMost: HIGHEST }],
  });
  if (highest > HIGHEST) process.exitCode = 1;
}
