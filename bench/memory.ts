/* eslint-disable no-console -- a bench prints its results */
/**
 * Measures how much memory a hostile answer takes: each in a process of its own, as the peak of its resident memory above
 * that of a process whose answer is one short text. Writes bench/memory.json.
 */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { verifyPublicKey } from "keyroot";
import { sampleRecords } from "../fixtures/samples.ts";

const MIB = 2 ** 20;
/** The limit of both kinds of answers, in bytes. */
const LIMIT = 16 * MIB;

/** The text that a hostile answer repeats, and what it begins and ends with. */
const SHAPES: Record<string, (i: number) => string> = {
  "short text": () => "",
  "nested arrays": () => "[",
  "empty objects": () => "{},",
  "empty arrays": () => "[],",
  "empty strings": () => '"",',
  "short numbers": () => "0,",
  "long numbers": () => `${"9".repeat(300)},`,
  "objects that the limits allow": (i) => `{"${i}":"${"x".repeat(80)}"},`,
  "strings that the limits allow": (i) => `"${i}${"x".repeat(16)}",`,
};

/** A body of just under LIMIT bytes. */
function bodyOf(shape: string, kind: string): Uint8Array<ArrayBuffer> {
  const item = SHAPES[shape] ?? (() => "");
  const [head, tail] =
    kind === "file" ? ['{"merkle":{},"lookup":{},"values":[', "0]}"] : ['{"jsonrpc":"2.0","id":1,"result":[', "0]}"];
  const body = Buffer.alloc(LIMIT, 0x20);
  let end = body.write(head);
  for (let i = 0; shape !== "short text" && end < LIMIT - 400; i++) end += body.write(item(i), end);
  end += body.write(tail, end);
  return new Uint8Array(body.buffer, 0, shape === "short text" ? end : LIMIT);
}

/** Runs one verification against such an answer, and prints its error and the peak of the process's memory in bytes. */
async function measure(kind: string, shape: string): Promise<void> {
  const [record] = sampleRecords(1);
  if (record === undefined) throw new Error("There is no sample.");
  const answer = (result: string) => new Response(JSON.stringify({ jsonrpc: "2.0", id: 1, result }));
  const body = bodyOf(shape, kind);
  // In pieces, as from a network.
  const hostile = () =>
    new Response(
      new ReadableStream<Uint8Array>({
        start(controller) {
          for (let i = 0; i < body.length; i += 65_536) controller.enqueue(body.slice(i, i + 65_536));
          controller.close();
        },
      }),
    );
  const fetch = (_: unknown, { body }: RequestInit = {}): Promise<Response> => {
    const text = typeof body === "string" ? body : "";
    if (text.includes("eth_chainId")) return Promise.resolve(answer("0x1"));
    if (text.includes("eth_call")) return Promise.resolve(answer(`0x${"1".padStart(64, "0")}`));
    return Promise.resolve(hostile());
  };
  const options = {
    rpc: "https://rpc.example",
    chainId: 1,
    contract: `0x${"12".repeat(20)}`,
    merkleUrl: "https://files.example",
  };
  const limits = { rpcBytes: LIMIT, fileBytes: LIMIT };
  const block = kind === "file" ? {} : { block: "finalized" as const };
  let code = "verified";
  try {
    await verifyPublicKey(record.userID, { ...options, ...block, limits, fetch });
  } catch (error) {
    code = (error as { code: string }).code;
  }
  console.log(JSON.stringify({ code, peak: process.resourceUsage().maxRSS * 1024, prepared: body.length }));
}

const [kind, shape] = process.argv.slice(2);
if (kind !== undefined && shape !== undefined) {
  await measure(kind, shape);
} else {
  const results: { kind: string; shape: string; code: string; ratio: number }[] = [];
  for (const kind of ["rpc", "file"]) {
    let baseline = 0;
    for (const shape of Object.keys(SHAPES)) {
      const args = [import.meta.filename, kind, shape];
      const { stdout } = await promisify(execFile)(process.execPath, args);
      const { code, peak } = JSON.parse(stdout) as { code: string; peak: number };
      if (shape === "short text") baseline = peak;
      // Includes the copies of the body that the bench itself holds: the verifier alone takes less.
      const ratio = Math.max(0, Math.round(((peak - baseline) / LIMIT) * 10) / 10);
      results.push({ kind, shape, code, ratio });
      console.log(
        `${kind.padEnd(5)} ${shape.padEnd(32)} ${code.padEnd(22)} ${ratio} x the limit, the bench's own body included`,
      );
    }
  }
  const highest = Math.max(...results.map(({ ratio }) => ratio));
  await writeFile(
    new URL("memory.json", import.meta.url),
    `${JSON.stringify({ limitBytes: LIMIT, highest, results }, null, 2)}\n`,
  );
  console.log(`The highest is ${highest}.`);
}
