/**
 * Writes test/vectors/key-types-good.json and test/vectors/key-types-invalid.json. They contain files of each key type
 * except Curve41417. The keys are made with `node:crypto` and without the library. With --check, the files are only
 * compared.
 */
import { type Case, fileText, type VectorSet, type Verdict } from "../../test/support/data/vectors.ts";
import { INVALID, publicKeyOf, recordText, type TypeName, TYPES, VALID } from "../../test/support/data/keysOfTypes.ts";
import { plainFile } from "../../test/support/data/plainFile.ts";
import { sampleUserID } from "../../test/support/samples.ts";
import { writeOrCheck } from "./writeOrCheck.ts";

type Vector = VectorSet["vectors"][number] & { about: string };

const users = [0, 1, 2, 3].map((number) => sampleUserID(number, 42)).sort();
const [user = ""] = users;

/** A question about the first user of a file, and the answer. */
function vector(
  keyType: TypeName | "curve41417",
  [name, about]: readonly [string, string],
  values: readonly string[],
  verdict: Verdict,
  question: Partial<Case["question"]> = {},
): Vector {
  const { root } = plainFile(values);
  return {
    ...{ name: `${keyType}-${name}`, about },
    question: { userID: user, root, keyType, ...question },
    input: { text: fileText(values) },
    verdict,
  };
}

const verified = (text: string): Verdict => ({ verified: { index: 0, record: JSON.parse(text) as never } });
const recordsOf = (type: TypeName, count: number) =>
  users.slice(0, count).map((userID, i) => recordText(userID, publicKeyOf(type, i)));

const good = [
  ...TYPES.flatMap((type) =>
    [1, 2, 3, 4].map((count) => {
      const values = recordsOf(type, count);
      return vector(type, [`${count}-users`, `keys of ${type}`], values, verified(values[0] ?? ""));
    }),
  ),
  ...VALID.map(([type, about, publicKey], i) => {
    const values = [recordText(user, publicKey), ...recordsOf(type, 2).slice(1)];
    return vector(type, [`valid-${i}`, about], values, verified(values[0] ?? ""));
  }),
];

const refused = (type: TypeName | "curve41417", name: string, about: string, key: Uint8Array, verdict: Verdict) =>
  vector(type, [name, about], [recordText(user, key)], verdict);

const invalid = [
  ...Object.entries(INVALID).flatMap(([type, keys]) =>
    keys.map(([about, key, code], i) =>
      refused(type as TypeName, `invalid-${i}`, about, key, { step: "record", code }),
    ),
  ),
  ...TYPES.flatMap((type) => {
    const key = publicKeyOf(type, 0);
    const otherID = recordText(user, key).replace(/"keyID":".{22}/, `"keyID":"${"A".repeat(22)}`);
    const expectedPublicKey = publicKeyOf(type, 1).toString("base64");
    const mismatch: Verdict = { step: "key", code: "KEY_MISMATCH" };
    const wrongLength: Verdict = { step: "file", code: "PUBLIC_KEY_LENGTH" };
    const spare = recordText(user, key).replace(/(?<="pubKey":"[^"]*)[A-Za-z0-9+/](?==+")/, "B");
    return [
      vector(type, ["key-id", "the id of another key"], [otherID], { step: "record", code: "KEY_ID_MISMATCH" }),
      vector(type, ["other-key", "not the key that the server gave"], [recordText(user, key)], mismatch, {
        expectedPublicKey,
      }),
      // The base64 of a multiple of three bytes has no spare bits.
      ...(key.length % 3 === 0
        ? []
        : [vector(type, ["spare-bits", "bits after the key"], [spare], { step: "file", code: "BASE64_INVALID" })]),
      refused(type, "shorter", "a byte less", key.subarray(1), wrongLength),
      refused(type, "longer", "a byte more", Buffer.concat([key, Buffer.alloc(1)]), wrongLength),
      refused(type, "empty", "no bytes", Buffer.alloc(0), wrongLength),
      refused("curve41417", `with-${type}`, `a key of ${type}`, key, { step: "file", code: "KEY_TYPE_MISMATCH" }),
    ];
  }),
  refused("x25519", "with-p256", "a key of P-256", publicKeyOf("p256", 0), { step: "file", code: "KEY_TYPE_MISMATCH" }),
  refused("p256", "with-x25519", "a key of X25519", publicKeyOf("x25519", 0), {
    step: "file",
    code: "KEY_TYPE_MISMATCH",
  }),
];

for (const [name, about, vectors] of [
  ["good", "Files with keys of other types than Curve41417 that verify a key.", good],
  ["invalid", "Files with keys that are invalid for the configured type, or of another type.", invalid],
] as const) {
  const set = { format: "keyroot-vectors-v1", kind: "merkle-file", about, vectors };
  await writeOrCheck(`test/vectors/key-types-${name}.json`, `${JSON.stringify(set, null, 1)}\n`);
}
