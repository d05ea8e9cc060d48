/** The checks that a mutant of the account verifier must fail. They are loaded once for each mutant. */
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { verifyAccountFile, verifyKeyStatement, verifyObjection } from "keyroot/account";
import { VerificationError } from "keyroot/internal/errors";
import { runCachedHistories, runHistories } from "../../../test/support/account/accountReader.ts";
import { type Case, type Input, readVectors, toBytes, VECTORS, verdictOf } from "../../../test/support/data/vectors.ts";

interface Vector<Question> {
  name: string;
  question: Question;
  input: Input;
  verdict: object;
}

const HISTORIES = 600;
const SEED = 7;

/** Runs the checks. @returns the name of the first check that fails, or undefined */
export async function findFailure(): Promise<string | undefined> {
  for (const { name, question, input, verdict } of read<Parameters<typeof verifyAccountFile>[2] & { userID: string }>(
    "accounts.json",
  )) {
    const { userID, ...place } = question;
    const bytes = toBytes(input);
    if (!isVerdict(verdict, () => verifyAccountFile(bytes, userID, place))) return name;
    if ("verified" in verdict && !verifiesStatement(bytes)) return `${name}, its statement alone`;
  }
  for (const { name, question, input, verdict } of read<{ account: string }>("objections.json")) {
    const text = Buffer.from(toBytes(input)).toString();
    if (!isVerdict(verdict, () => verifyObjection({ text: question.account }, text))) return name;
  }
  for (const { name, verdict, ...vector } of readVectors("bundle-accounts.json").vectors) {
    const actual = await verdictOf({ ...vector, kind: "bundle" } satisfies Case);
    if (!isDeepStrictEqual(actual, verdict)) return name;
  }
  const { first, accepted } = await runHistories(HISTORIES, SEED);
  if (first !== undefined || accepted === 0) return `model: ${first ?? "no key accepted"}`;
  const cached = await runCachedHistories(HISTORIES / 3, SEED);
  if (cached.first !== undefined || cached.accepted === 0) return `model with a cache: ${cached.first ?? ""}`;
  return undefined;
}

/** Checks that the file's first statement is valid, and is not valid with another number. */
function verifiesStatement(file: Uint8Array): boolean {
  const [head = "", text = "", signatures = ""] = Buffer.from(file).toString().replace(/\n$/, "").split("\n\n");
  const account = { text: `${head}\n` };
  const statement = `${text}\n\n${signatures}\n`;
  const { number } = verifyKeyStatement(account, statement);
  try {
    verifyKeyStatement(account, statement.replace(`number ${number}\n`, `number ${number ^ 1}\n`));
    return false;
  } catch (error) {
    return error instanceof VerificationError;
  }
}

function read<Question>(name: string): Vector<Question>[] {
  const path = new URL(`accounts/${name}`, VECTORS);
  return (JSON.parse(readFileSync(path, "utf8")) as { vectors: Vector<Question>[] }).vectors;
}

function isVerdict(expected: object, verify: () => object): boolean {
  try {
    return isDeepStrictEqual({ verified: JSON.parse(JSON.stringify(verify())) as object }, expected);
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    return isDeepStrictEqual({ step: error.step, code: error.code }, expected);
  }
}
