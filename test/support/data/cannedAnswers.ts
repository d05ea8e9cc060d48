import { keccak256 } from "ethers";
import type { VerifierOptions } from "keyroot";
import type { MerkleFile } from "keyroot/merkle";
import { textOf } from "../samples.ts";

/** The bodies of all answers to a verification. */
export type Answers = Record<"chainId" | "code" | "root" | "blockNumber" | "file", string>;

/** Text that only the body of this call contains. */
const CALLS: [keyof Answers, string][] = [
  ["chainId", "eth_chainId"],
  ["code", "eth_getCode"],
  ["root", "ee94c797"],
  ["blockNumber", "47378145"],
];

/** Answers that verify the users of a file, options for them, and a `fetch` without a network. */
export function cannedAnswers(file: MerkleFile) {
  const code = "0x600160005260206000f3";
  const answer = (result: string) => JSON.stringify({ jsonrpc: "2.0", id: 1, result });
  const answers: Answers = {
    chainId: answer("0x1"),
    code: answer(code),
    root: answer(`0x${file.tree.root}`),
    blockNumber: answer(`0x${"7".padStart(64, "0")}`),
    file: textOf(file),
  };
  const options = {
    rpc: "https://rpc.example",
    chainId: 1,
    contract: `0x${"12".repeat(20)}`,
    merkleUrl: "https://files.example",
    codeHash: keccak256(code),
  } satisfies Omit<VerifierOptions, "trust">;
  return { answers, options, fetchFrom };
}

/** A `fetch` with these answers, also to batches. */
function fetchFrom(answers: Answers) {
  const answerTo = (body: unknown) => {
    const call = CALLS.find(([, words]) => typeof body === "string" && body.includes(words));
    return answers[call?.[0] ?? "file"];
  };
  return (_: unknown, { body }: RequestInit = {}) => {
    const calls: unknown = typeof body === "string" ? JSON.parse(body) : undefined;
    if (!Array.isArray(calls)) return Promise.resolve(new Response(answerTo(body)));
    const batch = calls.map((call: object, i) => ({
      ...(JSON.parse(answerTo(JSON.stringify(call))) as object),
      id: i + 1,
    }));
    return Promise.resolve(Response.json(batch));
  };
}
