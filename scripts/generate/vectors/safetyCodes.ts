import type { VerificationStep } from "keyroot/errors";
import { plainSafetyCode, type PlainHolder } from "../../../test/support/data/plainSafetyCode.ts";
import { samplePublicKeys, sampleUserID } from "../../../test/support/samples.ts";

/** Two users with their keys, a payload that the contact shows, and the correct verdict. test/vectors/README.md explains the fields. */
export interface SafetyCodeVector {
  name: string;
  about: string;
  question: { mine: PlainHolder; contact: PlainHolder };
  input: { text: string };
  verdict: { verified: { digits: string } } | { step: VerificationStep; code: string };
}

export interface SafetyCodeSet {
  format: "keyroot-vectors-v1";
  kind: "safety-code";
  about: string;
  vectors: SafetyCodeVector[];
}

/** Safety codes of valid pairs, and payloads that must be rejected. */
export function safetyCodes(): SafetyCodeVector[] {
  const [a, b, c] = [0, 1, 2].map((i) => holder(i, i)) as [PlainHolder, PlainHolder, PlainHolder];
  const shown = plainSafetyCode(b, a).payload;
  const parts = shown.split(":");
  const withPart = (index: number, part: string) => parts.with(index, part).join(":");
  const other = (index: number) => (parts[index] ?? "").replace(/.$/, (last) => (last === "0" ? "1" : "0"));

  return [
    good("safety-code", "two users", a, b),
    good("safety-code-other-side", "the same pair on the contact's side: the same digits", b, a),
    good("safety-code-another-pair", "the user with another contact", a, c),
    good("safety-code-other-keys", "the same users with other keys: other digits", holder(0, 2), holder(1, 3)),
    good("safety-code-one-key", "two users with one key", holder(0, 1), b),
    good("safety-code-zero-id", "an id of zeros", { ...a, userID: "y".repeat(32) }, { ...b, userID: "9".repeat(32) }),
    ...rejected("key: SAFETY_CODE_MISMATCH", a, b, [
      ["contact-swapped", "the contact has another key than this app uses", plainSafetyCode(holder(1, 3), a).payload],
      ["mine-swapped", "the contact's app uses another key for this user", plainSafetyCode(b, holder(0, 3)).payload],
      ["both-swapped", "both keys are others", plainSafetyCode(holder(1, 2), holder(0, 3)).payload],
      ["keys-exchanged", "each user has the other's key", plainSafetyCode(holder(1, 0), holder(0, 1)).payload],
      ["last-digit-of-contact", "a fingerprint that differs in its last digit", withPart(3, other(3))],
      ["last-digit-of-mine", "the other fingerprint differs in its last digit", withPart(4, other(4))],
      [
        "fingerprints-exchanged",
        "the fingerprints in the wrong order",
        [...parts.slice(0, 3), parts[4], parts[3]].join(":"),
      ],
    ]),
    ...rejected("record: USER_MISMATCH", a, b, [
      ["own-payload", "the payload that this user shows", plainSafetyCode(a, b).payload],
      ["of-another-contact", "a payload of another contact", plainSafetyCode(c, a).payload],
      ["for-another-user", "a payload of the contact for another user", plainSafetyCode(b, c).payload],
      ["of-other-users", "a payload of two other users", plainSafetyCode(c, holder(3, 3)).payload],
      ["of-one-user", "a payload that names the contact twice", withPart(2, parts[1] ?? "")],
    ]),
    ...rejected("file: SAFETY_CODE_INVALID", a, b, [
      ["empty", "no text", ""],
      ["digits", "the digits instead of the payload", plainSafetyCode(b, a).digits],
      ["version-2", "a version that does not exist", withPart(0, "KEYROOT-SAFETY-2")],
      ["version-11", "a version that begins with 1", withPart(0, "KEYROOT-SAFETY-11")],
      ["lower-case", "hex in lower case", shown.toLowerCase()],
      ["lower-case-id", "an id in lower case", withPart(1, (parts[1] ?? "").toLowerCase())],
      ["without-fingerprint", "a part is missing", parts.slice(0, 4).join(":")],
      ["with-another-part", "a part too many", `${shown}:00`],
      ["short-id", "an id of 19 bytes", withPart(1, (parts[1] ?? "").slice(2))],
      ["long-fingerprint", "a fingerprint of 33 bytes", withPart(3, `${parts[3] ?? ""}00`)],
      ["no-hex", "a letter that is no hex digit", withPart(3, (parts[3] ?? "").replace(/.$/, "G"))],
      ["line-feed", "a line feed at the end", `${shown}\n`],
      ["space", "a space in front", ` ${shown}`],
      ["zbase32-id", "an id as zBase32", withPart(1, b.userID)],
    ]),
  ];
}

/** A sample user with a sample key. */
function holder(user: number, key: number): PlainHolder {
  return { userID: sampleUserID(user), publicKey: Buffer.from(samplePublicKeys[key] ?? []).toString("base64") };
}

function good(name: string, about: string, mine: PlainHolder, contact: PlainHolder): SafetyCodeVector {
  const { digits, payload } = plainSafetyCode(contact, mine);
  return { name, about, question: { mine, contact }, input: { text: payload }, verdict: { verified: { digits } } };
}

function rejected(
  verdict: string,
  mine: PlainHolder,
  contact: PlainHolder,
  cases: readonly (readonly [name: string, about: string, text: string])[],
): SafetyCodeVector[] {
  const [step, code] = verdict.split(": ") as [VerificationStep, string];
  return cases.map(([name, about, text]) => ({
    ...{ name: `safety-code-${name}`, about, question: { mine, contact } },
    ...{ input: { text }, verdict: { step, code } },
  }));
}
