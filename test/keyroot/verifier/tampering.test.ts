import { expect } from "chai";
import fc from "fast-check";
import { ANY_KEY, type KeyRecord, TransportError, VerificationError } from "keyroot";
import { makeMerkleFile } from "keyroot/merkle";
import { base64ToBytes } from "keyroot/internal/bytes";
import { sampleRecords } from "../../support/samples.ts";
import { type Answers, cannedAnswers } from "../../support/data/cannedAnswers.ts";
import { verifyOnce } from "../../support/verifier/verifyOnce.ts";

/** Matches hashes, keys, user ids, numbers and names. */
const WORD = /[\w+/=]+/g;

describe("a verification with an attacker in the network", () => {
  const [mine, ...others] = sampleRecords(4) as [KeyRecord, ...KeyRecord[]];
  const { userID } = mine;
  const { answers, fetchFrom, options } = cannedAnswers(makeMerkleFile([mine, ...others]));
  /** Responses for another batch, in which the user has another key. */
  const otherBatch = cannedAnswers(
    makeMerkleFile(others.map((other, i) => (i === 0 ? { ...other, userID } : other))),
  ).answers;

  const known = [...Object.values(answers), ...Object.values(otherBatch)].join();
  const knownWords = [...new Set(known.match(WORD))];

  const verify = (tampered: Answers) =>
    verifyOnce(userID, { ...options, expectedPublicKey: ANY_KEY, fetch: fetchFrom(tampered) });

  /** A change to a response. */
  type Change = (answer: string) => string;

  /** Replaces some characters at any position. */
  const splice = fc
    .record({ at: fc.nat(), cut: fc.nat(8), put: fc.oneof(fc.string({ maxLength: 4 }), someOf(known)) })
    .map(({ at, cut, put }): Change => {
      return (answer) => {
        const start = at % answer.length;
        return answer.slice(0, start) + put + answer.slice(start + cut);
      };
    });

  /** Replaces a word with another one, usually of the same length: a hash with a hash, and a user with a user. */
  const swap = fc.record({ at: fc.nat(), by: fc.nat(), any: fc.boolean() }).map(({ at, by, any }): Change => {
    return (answer) => {
      const words = [...answer.matchAll(WORD)];
      const { 0: word, index } = pick(words, at);
      const put = pick(
        knownWords.filter(({ length }) => any || length === word.length),
        by,
      );
      return answer.slice(0, index) + put + answer.slice(index + word.length);
    };
  });

  const tampering = fc.record({
    answer: fc.oneof(fc.constant("file" as const), fc.constantFrom(...(Object.keys(answers) as (keyof Answers)[]))),
    change: fc.oneof(splice, swap),
  });

  it("verifies a key with unchanged responses", async () => {
    expect(await verify(answers)).to.deep.include({ record: mine });
  });

  it("accepts only the published key after random changes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(tampering, { minLength: 1, maxLength: 3 }), async (all) => {
        const tampered = { ...answers };
        for (const { answer, change } of all) {
          tampered[answer] = change(tampered[answer]);
        }
        const outcome: unknown = await verify(tampered).catch((error: unknown) => error);
        if (outcome instanceof VerificationError || outcome instanceof TransportError) return;
        expect(outcome).to.deep.include({ record: mine, publicKey: base64ToBytes(mine.pubKey) });
      }),
      { numRuns: 1000 },
    );
  });
});

function someOf(text: string): fc.Arbitrary<string> {
  return fc.tuple(fc.nat(text.length), fc.nat(400)).map(([start, length]) => text.slice(start, start + length));
}

function pick<T>(items: readonly T[], index: number): T {
  return items[index % items.length] as T;
}
