import type { KeyRecord } from "keyroot/identity";
import type { MerkleProof } from "keyroot/merkle";
import { encode, P } from "../../../test/support/data/curve41417.ts";
import { pointOf, recordOf, SampleFile, textOf } from "./sampleFile.ts";
import { plainProof, proofIn, proofWithValue } from "./sampleProof.ts";
import { toInput, type Vector } from "./vector.ts";

/** Proofs that verify a key, from every place in a tree, including unusual ones. */
export function goodProofs(): Vector[] {
  const five = new SampleFile(5);
  const proof = proofIn(five, 1);
  const record = five.record(1);
  const { value, siblings, root, format } = proof;
  const { x, y } = pointOf(0);
  const mixed = textOf(recordOf(record.userID, encode({ x: P - x, y: P - y })));
  const sibling = (i: number) => {
    const [found] = siblings.slice(i);
    if (found === undefined) throw new RangeError(`The proof has no sibling ${i}.`);
    return found;
  };
  const escapes = value.replace(record.userID, (id) => `\\u00${id.charCodeAt(0).toString(16)}${id.slice(1)}`);

  return [
    ...[1, 2, 3, 5, 8].flatMap((users) => {
      const file = new SampleFile(users);
      return [...file.values.keys()].map((i) => {
        const about = `a tree of ${users}: the record ${i + 1}, ${describe(proofIn(file, i))}`;
        return good(`proof-of-${users}-${i + 1}`, about, proofIn(file, i));
      });
    }),
    ...[0, 349, 350, 698, 699].map((i) => {
      const large = proofIn(new SampleFile(700), i);
      return good(`proof-of-700-${i + 1}`, `a tree of 700: the record ${i + 1}, ${describe(large)}`, large);
    }),
    good(
      "proof-in-other-spacing",
      "any white space of JSON",
      proof,
      ` \r\n${JSON.stringify(proof, null, "\t")}\n`,
      record,
    ),
    good(
      "proof-in-other-key-order",
      "the keys of all objects the other way round",
      proof,
      JSON.stringify({ root, siblings: siblings.map(({ side, hash }) => ({ hash, side })), value, format }),
    ),
    good(
      "proof-with-escapes",
      "texts of the proof, written as escapes",
      proof,
      JSON.stringify(proof).replace('"right"', '"\\u0072ight"').replace('"format"', '"f\\u006frmat"'),
    ),
    good("proof-record-in-other-spacing", "the record is hashed as it stands", proofWithValue(proof, ` ${value}\n`)),
    good("proof-record-with-escapes", "a record with escapes is hashed as it stands", proofWithValue(proof, escapes)),
    good("proof-key-of-mixed-order", "a key outside of the subgroup of prime order", proofWithValue(proof, mixed)),
    good(
      "proof-of-20-levels",
      "20 siblings, as many as there may be",
      proofWithValue({ ...proof, siblings: Array.from({ length: 20 }, (_, i) => sibling(i % 3)) }, value),
    ),
    {
      ...good("proof-expected-key", "the key that was handed out is the published one", proof),
      question: { userID: record.userID, root, expectedPublicKey: record.pubKey },
    },
    good("proof-of-two-same-keys", "two users may have one key", sharedKey(record, five.record(0))),
  ];
}

function sharedKey(record: KeyRecord, other: KeyRecord): MerkleProof {
  return plainProof([textOf(record), textOf({ ...record, userID: other.userID })], 0);
}

/** The sides of the siblings, from the leaf to the root. */
function describe(proof: MerkleProof): string {
  const places = proof.siblings.map(({ side, hash }, level) => {
    const below = { ...proof, siblings: proof.siblings.slice(0, level) };
    return proofWithValue(below, proof.value).root === hash ? "itself" : side;
  });
  return places.length === 0 ? "which has no siblings" : `whose siblings are: ${places.join(", ")}`;
}

function good(
  name: string,
  about: string,
  proof: MerkleProof,
  text = JSON.stringify(proof),
  { userID, pubKey, keyID } = JSON.parse(proof.value) as KeyRecord,
): Vector {
  const verdict = { verified: { record: { userID, pubKey, keyID } } };
  return { name, about, question: { userID, root: proof.root }, input: toInput(Buffer.from(text)), verdict };
}
