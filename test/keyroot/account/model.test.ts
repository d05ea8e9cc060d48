import { expect } from "chai";
import { parseAccountFile, slotIDOf } from "keyroot/account";
import { verifySignatures } from "../../../packages/keyroot/src/account/keyStatement.ts";
import { type Mutant, runCachedHistories, runHistories } from "../../support/account/accountReader.ts";
import { ENDLESS_MS } from "../../support/endless.ts";
import { SEED } from "../../support/faults.ts";
import { testAll } from "../../support/testSize.ts";

/** The number of histories. `npm run fuzz:accounts` runs a million. */
const COUNT = testAll ? 2_000 : 500;
/**
 * The number of histories per batch for a mutant, and the maximum number of batches. Each mutant errs in at least 1 of
 * 1000 histories.
 */
const BATCH = 200;
const MAX_BATCHES = 150;

/** Verifiers with one deliberate fault. */
const MUTANTS: Record<string, Mutant> = {
  "skips slots without a statement": (verify, current) => (source, userID, place) => {
    const key = verify(source, userID, place);
    const { account } = parseAccountFile(source);
    let { nextNumber } = key;
    while (current().blocks[0].slots[nextNumber] !== undefined) nextNumber++;
    return { ...key, nextNumber, nextSlotID: slotIDOf(account, nextNumber) };
  },
  "does not look at later slots": (verify) => (source, userID, place) => {
    const key = verify(source, userID, place);
    return { ...key, nextSlotID: slotIDOf(parseAccountFile(source).account, 2 ** 32 - 1) };
  },
  "accepts any key in the slot": (verify, current) => (source, userID, place) => {
    const key = verify(source, userID, place);
    return { ...key, publicKey: current().blocks[0].slots[key.number]?.key ?? key.publicKey };
  },
  "ignores the threshold": (verify) => (source, userID, place) => {
    try {
      return verify(source, userID, place);
    } catch (error) {
      const { account, statements } = parseAccountFile(source);
      if (account.userID !== userID || statements.length > 1) throw error;
      const [statement] = statements;
      verifySignatures({ ...account, threshold: statement.signatures.length }, statement);
      return authorizedBy(source);
    }
  },
  "ignores the signatures": (verify) => (source, userID, place) => {
    try {
      return verify(source, userID, place);
    } catch (error) {
      if (parseAccountFile(source).account.userID !== userID) throw error;
      return authorizedBy(source);
    }
  },
};

/** What a file authorizes if nothing but its form is checked. */
function authorizedBy(source: Uint8Array) {
  const { account, statements } = parseAccountFile(source);
  const [{ number, publicKey = "" }] = statements;
  const nextNumber = number + statements.length;
  const [slotID, nextSlotID] = [slotIDOf(account, number), slotIDOf(account, nextNumber)];
  return { number, slotID, publicKey, nextNumber, nextSlotID };
}

describe("the reference model of accounts", () => {
  it(`agrees with the verifier on ${COUNT} hostile histories, which accepts no false and no older key`, async function () {
    this.timeout(ENDLESS_MS);
    const { accepted, refused, ...findings } = await runHistories(COUNT, SEED);
    const none = { unauthorized: 0, outdated: 0, different: 0, first: undefined };
    expect(findings, `FAULTS_SEED=${SEED}`).to.deep.equal(none);
    expect(accepted).to.be.above(COUNT / 20);
    const codes = ["ACCOUNT_MISSING", "ACCOUNT_INVALID", "ACCOUNT_MISMATCH", "KEY_STATEMENT_INVALID"];
    expect(Object.keys(refused)).to.include.members([...codes, "SUCCESSOR_UNPROVEN", "NOT_PUBLISHED"]);
  });

  it(`finds no older key after a newer one for ${COUNT / 4} readers with a cache, also if the recovery keys are stolen`, async function () {
    this.timeout(ENDLESS_MS);
    const { accepted, outdated, first } = await runCachedHistories(COUNT / 4, SEED);
    expect({ outdated, first }, `FAULTS_SEED=${SEED}`).to.deep.equal({ outdated: 0, first: undefined });
    expect(accepted).to.be.above(COUNT / 20);
  });

  // In each of these, the operator published a key in a later slot before the owner authorized this same key for it.
  for (const number of [25_627, 30_202, 774_696])
    it(`does not count a key as newer that the owner authorized only after the reader's block, in history ${number}`, async () => {
      const { accepted, outdated, different } = await runHistories(1, number);
      expect({ accepted, outdated, different }).to.deep.equal({ accepted: 1, outdated: 0, different: 0 });
    });

  for (const [name, mutant] of Object.entries(MUTANTS))
    it(`finds a verifier that ${name}`, async function () {
      this.timeout(ENDLESS_MS);
      let found = 0;
      for (let batch = 0; batch < MAX_BATCHES && found === 0; batch++) {
        const { unauthorized, outdated } = await runHistories(BATCH, SEED + batch * BATCH, mutant);
        found = unauthorized + outdated;
      }
      expect(found, `FAULTS_SEED=${SEED}`).to.be.above(0);
    });
});
