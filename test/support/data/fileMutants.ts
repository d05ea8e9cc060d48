/**
 * Changes valid Merkle-tree files, proofs and bundles at random, and compares the verdicts of the library with those of
 * scripts/secondVerifier/verifier.mjs.
 */
import fc from "fast-check";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { decode, isOnCurve } from "./curve41417.ts";
import { type Change, partOf, splice, swap } from "./mutations.ts";
import { CONTRACT, plainBundle } from "./plainBundle.ts";
import { plainFile } from "./plainFile.ts";
import { sha256 } from "../samples.ts";
import type { MerkleProof } from "keyroot/internal/merkle";
import { type Case, fileText, type Kind, readVectors, toBytes, toInput } from "./vectors.ts";
import { type Verdict, verdictOf, type Verified } from "./vectors.ts";

const SECOND_VERIFIER = fileURLToPath(new URL("../../../scripts/secondVerifier/verifier.mjs", import.meta.url));
/** The number of mutants in one process of the second verifier. */
const BATCH = 5000;

/** A valid document, the query about it, and the correct verdict. */
interface Good {
  kind: Kind;
  text: string;
  question: Case["question"];
  truth: Verdict;
}

/** A changed document. */
type Mutant = Case & {
  about: string;
  /** The only result that may be verified. Undefined for a forged document. */
  truth: Verdict | undefined;
};

/** The results of a comparison. */
export interface Outcome {
  /** Number of mutants that both verifiers accepted. */
  accepted: number;
  /** Number of mutants that both verifiers rejected. */
  rejected: number;
  /** Number of mutants, by kind of document. */
  kinds: Record<string, number>;
  /** Number of the library's rejections, by error code. */
  codes: Record<string, number>;
  /** Number of mutants with several faults for which the verifiers return different codes. They check in different orders. */
  otherCode: number;
  /** Verdicts that differ or are wrong, and errors without a code. The list must be empty. */
  findings: string[];
}

const goods: Record<Kind, Good[]> = {
  "merkle-file": [...goodDocuments("merkle-file"), ...goodDocuments("merkle-file", "key-types-good.json")],
  proof: goodDocuments("proof"),
  bundle: goodDocuments("bundle"),
};

/** The valid vectors of a kind, with small documents. */
function goodDocuments(kind: Kind, file = `${kind}-good.json`): Good[] {
  return readVectors(file).vectors.flatMap(({ question, input, verdict }) =>
    "text" in input && input.text.length < 10_000 ? [{ kind, question, text: input.text, truth: verdict }] : [],
  );
}

/** Creates the document of a changed value for the user, with the root or block that follows in the query. */
function forge(
  { kind, text, question: { userID, ...asked }, truth }: Good,
  change: Change,
): Pick<Good, "text" | "question"> {
  const document = JSON.parse(text) as MerkleProof & { values: string[]; proof: MerkleProof };
  if (kind === "merkle-file") {
    const index = "verified" in truth ? (truth.verified.index ?? 0) : 0;
    const values = document.values.with(index, change(document.values[index] ?? ""));
    return {
      text: fileText(values),
      question: { userID, keyType: asked.keyType ?? "curve41417", root: plainFile(values).root },
    };
  }
  const proof = kind === "proof" ? document : document.proof;
  const forged = proofWithValue(proof, change(proof.value));
  if (kind === "proof") return { text: JSON.stringify(forged), question: { userID, root: forged.root } };
  const { bundle, pinned } = plainBundle(proof, { root: forged.root });
  const question = { userID, chainId: 1, contract: CONTRACT, pinned };
  return { text: JSON.stringify({ ...bundle, proof: forged }), question };
}

/** Returns the proof with another value, and the root of this value. */
function proofWithValue(proof: MerkleProof, value: string): MerkleProof {
  const root = proof.siblings.reduce(
    (node, { side, hash }) => sha256(side === "left" ? hash + node : node + hash),
    sha256(value),
  );
  return { ...proof, value, root };
}

const all = Object.values(goods).flat();
const known = all.map(({ text }) => text).join("");
const signs = Array.from('{}[]:,"\\ \n\t0123456789-.eE+_/=AQgwaf\0\ufeff');
const token = fc.constantFrom(...signs, "null", "\\u0000", '"__proto__":0,');
const junk = fc.oneof(token, token, partOf(known, 1200), fc.string({ unit: "binary", maxLength: 4 }));

/** Repeats or removes a member of an object, or turns it into upper case. */
const editMember = fc.tuple(fc.nat(), fc.constantFrom("repeat", "remove", "upper")).map(([at, edit]): Change => {
  return (text) =>
    replaceMatch(text, /"\w+":(?:"\w*"|\d+|\{[^{}]*\}),?/g, at, (member) => {
      if (edit === "repeat") return `${member.replace(/,$/, "")},${member}`;
      return edit === "remove" ? "" : member.toUpperCase();
    });
});

/** Changes only the formatting of the JSON outside the text of records. */
const reformat = fc.tuple(fc.nat(), fc.constantFrom(" ", "\n", "\r", "\t", "\\u")).map(([at, by]): Change => {
  return by === "\\u"
    ? (text) => replaceMatch(text, /(?<=[\w"])\w/g, at, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)
    : (text) => replaceMatch(text, /[{}[\]:,]/g, at, (token) => by + token + by);
});

const change = fc.oneof(splice(junk), swap(known), editMember, reformat);
const changes = fc.array(change, { minLength: 1, maxLength: 3 }).map((all): Change => {
  return (text) => all.reduce((text, change) => change(text), text);
});

/** Files, proofs and bundles in equal numbers. */
const good = fc.oneof(...Object.values(goods).map((some) => fc.constantFrom(...some)));

/** A document with a changed text. */
const tampered = fc.record({ good, changes }).map(({ good, changes }): Mutant => {
  return mutant("tampered", good, Buffer.from(changes(good.text)));
});

/** A document with a changed bit or replaced bytes. */
const damaged = fc
  .record({ good, at: fc.nat(), bit: fc.nat(7), put: fc.option(fc.uint8Array({ maxLength: 4 })) })
  .map(({ good, at, bit, put }): Mutant => {
    const bytes = Buffer.from(good.text);
    const start = at % bytes.length;
    const other = put ?? [Number(bytes[start]) ^ (1 << bit)];
    const all = Buffer.concat([bytes.subarray(0, start), Uint8Array.from(other), bytes.subarray(start + 1)]);
    return mutant("damaged", good, all);
  });

/** A consistent document with a changed value, as a careful attacker makes it. */
const forged = fc.record({ good, changes }).map(({ good, changes }): Mutant => {
  const { text, question } = forge(good, changes);
  return { ...mutant("forged", { ...good, question }, Buffer.from(text)), truth: undefined };
});

const anyMutant = fc.oneof({ weight: 4, arbitrary: tampered }, { weight: 1, arbitrary: damaged }, forged, forged);

function mutant(about: string, { kind, question, truth }: Good, bytes: Uint8Array): Mutant {
  return { about, kind, question, input: toInput(bytes), truth };
}

function replaceMatch(text: string, pattern: RegExp, at: number, replace: (match: string) => string): string {
  const matches = [...text.matchAll(pattern)];
  const match = matches[at % matches.length];
  if (match === undefined) return text;
  return text.slice(0, match.index) + replace(match[0]) + text.slice(match.index + match[0].length);
}

/** Compares the verdicts of both verifiers on this many mutants. The same seed gives the same mutants. */
export async function compareOnMutants(count: number, seed: number): Promise<Outcome> {
  const outcome: Outcome = { accepted: 0, rejected: 0, kinds: {}, codes: {}, otherCode: 0, findings: [] };
  for (let done = 0; done < count; done += BATCH) {
    const numRuns = Math.min(BATCH, count - done);
    const mutants = fc.sample(anyMutant, { seed: seed + done, numRuns });
    for (const kind of Object.keys(goods)) {
      const some = mutants.filter((mutant) => mutant.kind === kind);
      outcome.kinds[kind] = (outcome.kinds[kind] ?? 0) + some.length;
      for (const [mutant, second] of verdictsOfSecondVerifier(kind, some)) await compare(mutant, second, outcome);
    }
  }
  return outcome;
}

/** The second verifier's verdict on each mutant of a kind. */
function verdictsOfSecondVerifier(kind: string, mutants: readonly Mutant[]): [Mutant, Verdict][] {
  const { stdout, status } = spawnSync(process.execPath, [SECOND_VERIFIER, "--json", "-"], {
    input: JSON.stringify({ format: "keyroot-vectors-v1", kind, vectors: mutants }),
    encoding: "utf8",
    stdio: ["pipe", "pipe", "inherit"],
    maxBuffer: 2 ** 28,
  });
  const verdicts = status === 0 ? (JSON.parse(stdout) as Verdict[]) : [];
  if (verdicts.length !== mutants.length) throw new Error("The second verifier failed.");
  return mutants.map((mutant, i) => [mutant, verdicts[i]] as [Mutant, Verdict]);
}

async function compare(mutant: Mutant, second: Verdict, outcome: Outcome): Promise<void> {
  const found = (what: string) => outcome.findings.push(`${what}: ${JSON.stringify({ ...mutant, second })}`);
  let first: Verdict;
  try {
    first = await verdictOf(mutant);
  } catch (error) {
    found(`the library threw ${String(error)}`);
    return;
  }
  if ("code" in first) {
    outcome.rejected++;
    outcome.codes[first.code] = (outcome.codes[first.code] ?? 0) + 1;
    if ("verified" in second) found(`only the second verifier accepts; the library rejects with ${first.code}`);
    else if (!isDeepStrictEqual(first, second)) outcome.otherCode++;
  } else {
    outcome.accepted++;
    if (!isDeepStrictEqual(first, second)) found("only the library accepts, or the verified results differ");
    const isTrue = mutant.truth ? isDeepStrictEqual(first, mutant.truth) : isSound(first.verified, mutant);
    if (!isTrue) found("a wrong result was verified");
  }
}

/** Whether the record verified in a forged document is the user's record in it, with a valid key. */
function isSound({ index, record }: Verified, { kind, question, input }: Mutant): boolean {
  const publicKey = Buffer.from(record.pubKey, "base64");
  const document = JSON.parse(Buffer.from(toBytes(input)).toString()) as {
    values: string[];
    value: string;
    proof: { value: string };
  };
  const text = {
    "merkle-file": () => document.values[index ?? 0],
    proof: () => document.value,
    bundle: () => document.proof.value,
  }[kind]();
  return (
    isDeepStrictEqual(JSON.parse(text ?? ""), record) &&
    record.userID === question.userID &&
    record.keyID === Buffer.from(sha256(publicKey), "hex").subarray(0, 16).toString("base64") &&
    ((question.keyType ?? "curve41417") !== "curve41417" || isOnCurve(decode(publicKey)))
  );
}
