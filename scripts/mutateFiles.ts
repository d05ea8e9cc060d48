/**
 * Changes good Merkle-tree files at random and holds the library's verdicts against those of scripts/secondVerifier.mjs:
 * `node scripts/mutateFiles.ts 100000 [seed]`. Exit 1 when there is anything to look into.
 */
import fc from "fast-check";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { decode, isOnCurve } from "../test/identity/curve41417.ts";
import { rebuilt } from "./vectors/refused.ts";
import { recordOf, SampleFile } from "./vectors/sampleFile.ts";
import { judge, toBytes, toInput, type Vector, type Verdict, type Verified } from "./vectors/vector.ts";

const SECOND_VERIFIER = fileURLToPath(new URL("secondVerifier.mjs", import.meta.url));
/** How many mutants one process of the second verifier judges. */
const BATCH = 5000;

/** A changed file, and what its question is answered with when the file is good. */
type Mutant = Omit<Vector, "verdict"> & {
  /** The one record that may be verified; undefined for a file built anew around changed values, under its own root. */
  truth: Verdict | undefined;
};

/** What mutants came to. */
export interface Outcome {
  /** Verified by both. */
  accepted: number;
  /** Refused by both. */
  refused: number;
  /** How often each code of the library's occurred. */
  codes: Record<string, number>;
  /** Refused by both, with two codes: files with several defects, which are looked for in another order. */
  otherCode: number;
  /** Verdicts that disagree or are false, and errors without a code. There must be none. */
  findings: string[];
}

type Change = (text: string) => string;

const files = [1, 2, 3, 5, 8].map((users) => new SampleFile(users));
const known = files.map(({ text }) => text).join("");
/** Hashes, keys, ids, numbers, names. */
const WORD = /[\w+/=]+/g;
const knownWords = [...new Set(known.match(WORD))];

const piece = fc.tuple(fc.nat(known.length), fc.nat(400)).map(([start, length]) => known.slice(start, start + length));
const signs = Array.from('{}[]:,"\\ \n\t0123456789-.eE+_/=AQgwaf\0\ufeff');
const token = fc.constantFrom(...signs, "null", "\\u0000", '"__proto__":0,');
const junk = fc.oneof(token, token, piece, fc.string({ unit: "binary", maxLength: 4 }));

/** A cut anywhere, and something else in its place. */
const splice = fc.tuple(fc.nat(), fc.nat(8), junk).map(([at, cut, put]): Change => {
  return (text) => {
    const start = at % (text.length + 1);
    return text.slice(0, start) + put + text.slice(start + cut);
  };
});

/** A word gives way to another one of its length, or to any: a hash to a hash, a user to a user. */
const swapWord = fc.tuple(fc.nat(), fc.nat(), fc.boolean()).map(([at, by, any]): Change => {
  return (text) =>
    replaceMatch(text, WORD, at, (word) => {
      const candidates = knownWords.filter(({ length }) => any || length === word.length);
      return candidates[by % candidates.length] ?? word;
    });
});

/** A member of an object comes twice, or not at all, or in upper case. */
const editMember = fc.tuple(fc.nat(), fc.constantFrom("twice", "never", "upper")).map(([at, edit]): Change => {
  return (text) =>
    replaceMatch(text, /"\w+":(?:"\w*"|\d+|\{[^{}]*\}),?/g, at, (member) => {
      if (edit === "twice") return `${member.replace(/,$/, "")},${member}`;
      return edit === "never" ? "" : member.toUpperCase();
    });
});

/** Changes that a reader of JSON does not see, as long as they do not befall a record's text. */
const respell = fc.tuple(fc.nat(), fc.constantFrom(" ", "\n", "\r", "\t", "\\u")).map(([at, by]): Change => {
  return by === "\\u"
    ? (text) => replaceMatch(text, /(?<=[\w"])\w/g, at, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)
    : (text) => replaceMatch(text, /[{}[\]:,]/g, at, (token) => by + token + by);
});

const change = fc.oneof(splice, swapWord, editMember, respell);
const changes = fc.array(change, { minLength: 1, maxLength: 3 }).map((all): Change => {
  return (text) => all.reduce((text, change) => change(text), text);
});

const file = fc.constantFrom(...files);

/** A file changed on its way. */
const tampered = fc.record({ file, user: fc.nat(), changes }).map(({ file, user, changes }): Mutant => {
  const i = user % file.records.length;
  return mutant("tampered", Buffer.from(changes(file.text)), file, i);
});

/** A file with a bit changed, or bytes exchanged. */
const damaged = fc
  .record({ file, user: fc.nat(), at: fc.nat(), bit: fc.nat(7), put: fc.option(fc.uint8Array({ maxLength: 4 })) })
  .map(({ file, user, at, bit, put }): Mutant => {
    const bytes = Buffer.from(file.text);
    const start = at % bytes.length;
    const other = put ?? [Number(bytes[start]) ^ (1 << bit)];
    const all = Buffer.concat([bytes.subarray(0, start), Uint8Array.from(other), bytes.subarray(start + 1)]);
    return mutant("damaged", all, file, user % file.records.length);
  });

/** A file that a forger built with care around a changed value. */
const forged = fc.record({ file, user: fc.nat(), changes }).map(({ file, user, changes }): Mutant => {
  const i = user % file.records.length;
  const { content, question } = rebuilt(file.values.with(i, changes(file.values[i] ?? "")), file.record(i).userID);
  return { ...mutant("forged", Buffer.from(content), file, i), question, truth: undefined };
});

const anyMutant = fc.oneof({ weight: 4, arbitrary: tampered }, { weight: 1, arbitrary: damaged }, forged, forged);

function mutant(about: string, bytes: Uint8Array, file: SampleFile, index: number): Mutant {
  const truth = { verified: { index, record: file.record(index) } };
  return { name: "", about, question: file.question(index), input: toInput(bytes), truth };
}

function replaceMatch(text: string, pattern: RegExp, at: number, replace: (match: string) => string): string {
  const matches = [...text.matchAll(pattern)];
  const match = matches[at % matches.length];
  if (match === undefined) return text;
  return text.slice(0, match.index) + replace(match[0]) + text.slice(match.index + match[0].length);
}

/** Judges so many mutants by both verifiers. The same seed gives the same mutants. */
export function judgeMutants(count: number, seed: number): Outcome {
  const outcome: Outcome = { accepted: 0, refused: 0, codes: {}, otherCode: 0, findings: [] };
  for (let done = 0; done < count; done += BATCH) {
    const numRuns = Math.min(BATCH, count - done);
    const mutants = fc.sample(anyMutant, { seed: seed + done, numRuns });
    for (const [mutant, second] of judgeBySecond(mutants)) compare(mutant, second, outcome);
  }
  return outcome;
}

/** Each mutant with the second verifier's verdict. */
function judgeBySecond(mutants: readonly Mutant[]): [Mutant, Verdict][] {
  const { stdout, status } = spawnSync(process.execPath, [SECOND_VERIFIER, "--json", "-"], {
    input: JSON.stringify({ format: "keyroot-vectors-v1", kind: "merkle-file", vectors: mutants }),
    encoding: "utf8",
    stdio: ["pipe", "pipe", "inherit"],
    maxBuffer: 2 ** 28,
  });
  const verdicts = status === 0 ? (JSON.parse(stdout) as Verdict[]) : [];
  if (verdicts.length !== mutants.length) throw new Error("The second verifier broke down.");
  return mutants.map((mutant, i) => [mutant, verdicts[i]] as [Mutant, Verdict]);
}

function compare(mutant: Mutant, second: Verdict, outcome: Outcome): void {
  const found = (what: string) => outcome.findings.push(`${what}: ${JSON.stringify({ ...mutant, second })}`);
  let first: Verdict;
  try {
    first = judge(mutant);
  } catch (error) {
    found(`the library threw ${String(error)}`);
    return;
  }
  if ("code" in first) {
    outcome.refused++;
    outcome.codes[first.code] = (outcome.codes[first.code] ?? 0) + 1;
    if ("verified" in second) found(`only the second verifier accepts, the library says ${first.code}`);
    else if (!isDeepStrictEqual(first, second)) outcome.otherCode++;
  } else {
    outcome.accepted++;
    if (!isDeepStrictEqual(first, second)) found("only the library accepts, or the two verify different records");
    const isTrue = mutant.truth ? isDeepStrictEqual(first, mutant.truth) : isSound(first.verified, mutant);
    if (!isTrue) found("something false was verified");
  }
}

/** Whether what was verified in a forger's own file is what stands there for the user, and holds a usable key. */
function isSound({ index, record }: Verified, { question, input }: Mutant): boolean {
  const publicKey = Buffer.from(record.pubKey, "base64");
  const { values } = JSON.parse(Buffer.from(toBytes(input)).toString()) as { values: string[] };
  return (
    isDeepStrictEqual(JSON.parse(values[index] ?? ""), record) &&
    isDeepStrictEqual(record, recordOf(question.userID, publicKey)) &&
    isOnCurve(decode(publicKey))
  );
}

if (import.meta.main) {
  const [count = 2000, seed = 1] = process.argv.slice(2).map(Number);
  const start = performance.now();
  const { findings, ...outcome } = judgeMutants(count, seed);
  const seconds = Math.round((performance.now() - start) / 100) / 10;
  process.stdout.write(`${JSON.stringify({ count, seed, ...outcome, findings: findings.length, seconds }, null, 2)}\n`);
  for (const finding of findings) process.stdout.write(`${finding}\n`);
  process.exitCode = findings.length === 0 ? 0 : 1;
}
