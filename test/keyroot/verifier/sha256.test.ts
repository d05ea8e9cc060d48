import { expect } from "chai";
import { createHash } from "node:crypto";
import { mock } from "node:test";
import { ANY_KEY, createVerifier, EnvironmentError, type KeyRecord, makeMerkleFile, VerificationError } from "keyroot";
import type { Sha256 } from "../../../packages/keyroot/src/merkle/parseAnyFile.ts";
import { cannedAnswers } from "../../support/data/cannedAnswers.ts";
import { sampleRecords, textOf } from "../../support/samples.ts";
import { failure, never } from "../../support/support.ts";

const right: Sha256 = (data) => createHash("sha256").update(data).digest();
const textIn = (data: Uint8Array) => Buffer.from(data).toString();

/** Returns the right hash with another first byte for some inputs. */
const wrongFor =
  (isWrong: (text: string) => boolean): Sha256 =>
  (data) => {
    const digest = right(data);
    if (isWrong(textIn(data))) digest[0] = (digest[0] ?? 0) ^ 1;
    return digest;
  };

describe("the sha256 option", () => {
  const file = makeMerkleFile(sampleRecords(11));
  const { answers, fetchFrom, options } = cannedAnswers(file);
  const [mine, other] = [file.records[2] ?? never(), file.records[9] ?? never()] as const;
  const { userID } = mine;

  const verifierWith = (sha256: unknown, text = answers.file) =>
    createVerifier({ ...options, fetch: fetchFrom({ ...answers, file: text }), sha256: sha256 as Sha256 });
  const verify = (sha256: unknown, text?: string, expectedPublicKey: KeyRecord["pubKey"] = mine.pubKey) =>
    verifierWith(sha256, text).verify(userID, { expectedPublicKey });

  it("computes all hashes of the Merkle tree", async () => {
    const inputs: string[] = [];
    const recorded: Sha256 = (data) => {
      inputs.push(textIn(data));
      return right(data);
    };
    expect(await verify(recorded)).to.deep.equal(await verify(undefined));
    const nodes = [...Array(file.tree.height).keys()].slice(1).flatMap((level) => file.tree.hashes(level));
    expect(inputs.slice(0, 11)).to.deep.equal(file.values);
    expect(inputs.slice(11).map((text) => Buffer.from(right(Buffer.from(text))).toString("hex"))).to.deep.equal(nodes);
  });

  it("computes the hashes of the Merkle tree in verifyMany", async () => {
    const contacts = [mine, other].map(({ userID }) => ({ userID, expectedPublicKey: ANY_KEY }));
    const counted = mock.fn(right);
    const outcomes = await verifierWith(counted).verifyMany(contacts);
    expect(outcomes.map((outcome) => "verified" in outcome && outcome.verified.record)).to.deep.equal([mine, other]);
    expect(counted.mock.callCount()).to.be.above(11);
    const failed = await verifierWith(wrongFor(() => true)).verifyMany(contacts);
    expect(failed.map((outcome) => "error" in outcome && outcome.error.code)).to.deep.equal(
      Array(2).fill("SHA256_INVALID"),
    );
  });

  it("may be a function that returns the same array each time", async () => {
    const buffer = new Uint8Array(32);
    const reused: Sha256 = (data) => {
      buffer.set(right(data));
      return buffer;
    };
    expect((await verify(reused)).record).to.deep.equal(mine);
  });

  describe("a wrong function", () => {
    const path = [file.tree.hashes(0)[2], file.tree.hashes(1)[0], file.tree.hashes(2)[0]].map(
      (hash) => hash ?? never(),
    );
    const calls = { count: 0 };
    const wrong: Record<string, unknown> = {
      "is wrong for every input": wrongFor(() => true),
      "is wrong for the user's own record": wrongFor((text) => text.includes(userID)),
      "is wrong for a node above the user's record": wrongFor(
        (text) => text.includes(path[1] ?? "") && text.length === 128,
      ),
      "is wrong for the root": wrongFor((text) => text.startsWith(file.tree.hashes(3)[0] ?? "none")),
      "is wrong for another user's record": wrongFor((text) => text.includes(other.userID)),
      "returns another result after some calls": (data: Uint8Array) =>
        calls.count++ < 7 ? right(data) : new Uint8Array(32),
      "returns another hash of the input": (data: Uint8Array) => createHash("sha3-256").update(data).digest(),
      "returns too few bytes": (data: Uint8Array) => right(data).slice(1),
      "returns too many bytes": (data: Uint8Array) => Buffer.concat([right(data), Buffer.alloc(1)]),
      "returns hex": (data: Uint8Array) => Buffer.from(right(data)).toString("hex"),
      "returns a promise": (data: Uint8Array) => Promise.resolve(right(data)),
      "returns nothing": () => undefined,
      "changes the input": (data: Uint8Array) => right(data.fill(0)),
    };

    for (const [name, sha256] of Object.entries(wrong)) {
      it(`causes an EnvironmentError if it ${name}`, async () => {
        const error = await failure(verify(sha256));
        expect(error).to.be.instanceOf(EnvironmentError).and.include({ code: "SHA256_INVALID", advice: "developer" });
        expect(error).to.have.property("message").that.includes(`${file.tree.root}.json is valid`);
      });
    }

    it("causes an error that has the function's error as its cause", async () => {
      const cause = new Error("no such algorithm");
      const throws = () => {
        throw cause;
      };
      expect(await failure(verify(throws))).to.include({ code: "SHA256_INVALID", cause });
    });

    it("has no effect on the rejection of a forged file", async () => {
      const forged = answers.file.replace(mine.pubKey, other.pubKey);
      for (const sha256 of [right, ...Object.values(wrong)])
        expect(await failure(verify(sha256, forged, other.pubKey)))
          .to.be.instanceOf(VerificationError)
          .and.include({ code: "ROOT_MISMATCH", advice: "warn" });
    });

    it("cannot hide another key of the user", async () => {
      const published = new Map(file.records.map(({ userID }, i) => [userID, file.values[i] ?? never()]));
      const byUser: Sha256 = (data) => {
        const [, name = ""] = /^{"userID":"(\w+)"/.exec(textIn(data)) ?? [];
        return right(Buffer.from(published.get(name) ?? data));
      };
      const forged = answers.file.replaceAll(JSON.stringify(mine.pubKey).slice(1, -1), other.pubKey);
      expect(forged).to.not.equal(answers.file);
      expect(await failure(verify(byUser, forged, other.pubKey)))
        .to.be.instanceOf(VerificationError)
        .and.include({ code: "ROOT_MISMATCH" });
      const contacts = [{ userID, expectedPublicKey: ANY_KEY }];
      const [outcome] = await verifierWith(byUser, forged).verifyMany(contacts);
      expect(outcome).to.have.nested.property("error.code", "ROOT_MISMATCH");
    });
  });

  it("is not used for a valid file in another form", async () => {
    const spaced = JSON.stringify(JSON.parse(textOf(file)), null, 1);
    for (const sha256 of [right, wrongFor(() => true)])
      expect((await verify(sha256, spaced)).record).to.deep.equal(mine);
  });
});
