import { expect } from "chai";
import { mock } from "node:test";
import { ANY_KEY, createVerifier, type KeyRecord, type VerifierOptions, oneEndpoint } from "keyroot";
import { makeMerkleFile } from "keyroot/merkle";
import { sampleRecords, sampleUserID } from "../../support/samples.ts";
import { cannedAnswers } from "../../support/data/cannedAnswers.ts";
import { keyrootErrorOf, WRONG_VALUES } from "../../support/data/junk.ts";
import { failure } from "../../support/support.ts";
import { verifyOnce, verifyListOnce } from "../../support/verifier/verifyOnce.ts";

type Loose = (...args: unknown[]) => Promise<unknown>;

describe("createVerifier", () => {
  const [mine, other] = sampleRecords(2) as [KeyRecord, KeyRecord];
  const { userID } = mine;
  const { answers, fetchFrom, options: place } = cannedAnswers(makeMerkleFile([mine, other]));
  const fetch = mock.fn(fetchFrom(answers));
  /** Returns valid options. */
  const options = (): VerifierOptions => ({ ...place, trust: oneEndpoint(), fetch });

  beforeEach(() => {
    fetch.mock.resetCalls();
  });

  describe("options", () => {
    for (const name of ["rpc", "chainId", "contract", "merkleUrl", "trust"]) {
      it(`requires the ${name} option`, () => {
        expect(() => createVerifier({ ...options(), [name]: undefined }))
          .to.throw(new RegExp(`^The ${name} option must be `))
          .with.include({ name: "ArgumentError", code: "ARGUMENT_INVALID" });
        expect(fetch.mock.callCount()).to.equal(0);
      });
    }

    it("rejects options that belong to a single call", () => {
      for (const name of ["expectedPublicKey", "signal", "account", "onOutcome"]) {
        expect(() => createVerifier({ ...options(), [name]: undefined })).to.throw(name);
      }
    });

    it("lists the valid names for a misspelled option", () => {
      expect(() => createVerifier({ ...options(), trusts: 2 } as VerifierOptions)).to.throw(
        /Valid options are .*trust, /,
      );
    });

    it("ignores later changes to the options", async () => {
      const changing = options();
      const verifier = createVerifier(changing);
      Object.assign(changing, { contract: `0x${"ff".repeat(20)}`, chainId: 5, merkleUrl: "https://other.example" });
      const { contract, chainId } = await verifier.verify(userID, { expectedPublicKey: ANY_KEY });
      expect({ contract, chainId }).to.deep.equal({ contract: place.contract, chainId: place.chainId });
    });
  });

  describe("verify", () => {
    it("returns the same result for each call", async () => {
      const verifier = createVerifier(options());
      const expected = await verifyOnce(userID, { ...options(), expectedPublicKey: mine.pubKey });
      expect(await verifier.verify(userID, { expectedPublicKey: mine.pubKey })).to.deep.equal(expected);
      expect(await verifier.verify(userID, { expectedPublicKey: ANY_KEY })).to.deep.equal(expected);
    });

    it("requires an expected key or ANY_KEY", async () => {
      const verify = createVerifier(options()).verify as unknown as Loose;
      for (const args of [
        [],
        [{}],
        [{ expectedPublicKey: undefined }],
        [{ expectedPublicKey: "keyroot.ANY_KEY" }],
        [{ expectedPublicKey: Symbol("ANY_KEY") }],
      ])
        expect(await keyrootErrorOf(() => verify(userID, ...args))).to.include({ name: "ArgumentError" });
      const missing = await keyrootErrorOf(() => verify(userID, { expectedPublicKey: undefined }));
      expect(missing).to.include({ code: "ARGUMENT_INVALID", advice: "developer" });
      expect(fetch.mock.callCount()).to.equal(0);
      expect(await verify(userID, { expectedPublicKey: ANY_KEY })).to.deep.include({ record: mine });
    });

    it("rejects unknown options", async () => {
      const verify = createVerifier(options()).verify as unknown as Loose;
      for (const wrong of [{ expectedPublickey: mine.pubKey }, { quorum: 1 }, { signal: 7 }, ...WRONG_VALUES]) {
        // An object without own keys counts as missing options.
        if (typeof wrong === "object" && wrong !== null && !Array.isArray(wrong) && Object.keys(wrong).length === 0)
          continue;
        const error = await keyrootErrorOf(() => verify(userID, wrong));
        expect(error, String(wrong?.toString())).to.include({ name: "ArgumentError" });
      }
      expect(fetch.mock.callCount()).to.equal(0);
    });

    it("throws ABORTED only for the aborted call", async () => {
      const verifier = createVerifier(options());
      const aborted = verifier.verify(userID, { signal: AbortSignal.abort(), expectedPublicKey: ANY_KEY });
      const [error, { record }] = await Promise.all([
        failure(aborted),
        verifier.verify(userID, { expectedPublicKey: ANY_KEY }),
      ]);
      expect(error).to.include({ name: "AbortError", code: "ABORTED" });
      expect(record).to.deep.equal(mine);
    });
  });

  describe("verifyMany", () => {
    it("returns the same result as the verifyMany function", async () => {
      const contacts = [
        { userID, expectedPublicKey: mine.pubKey },
        { userID: other.userID, expectedPublicKey: ANY_KEY },
        { userID: sampleUserID(9), expectedPublicKey: ANY_KEY },
      ];
      const batches = { ...options(), rpc: { request: provider() } };
      const codes = (outcomes: Awaited<ReturnType<typeof verifyListOnce>>) =>
        outcomes.map((outcome) => ("verified" in outcome ? outcome.verified.record.pubKey : outcome.error.code));
      const verified = codes(await createVerifier(batches).verifyMany(contacts));
      expect(verified).to.deep.equal(codes(await verifyListOnce(contacts, batches)));
      expect(verified).to.deep.equal([mine.pubKey, other.pubKey, "USER_NOT_IN_FILE"]);
    });

    it("returns an error for a contact without an expected key", async () => {
      const many = createVerifier({ ...options(), rpc: { request: provider() } }).verifyMany as unknown as Loose;
      const contacts = [
        { userID, expectedPublicKey: undefined },
        { userID, expectedPublicKey: ANY_KEY },
      ];
      const [first, second] = (await many(contacts)) as Awaited<ReturnType<typeof verifyListOnce>>;
      expect(first).to.have.nested.property("error.code", "ARGUMENT_INVALID");
      expect(first).to.have.nested.property("error.advice", "developer");
      expect(second).to.have.nested.property("verified.record").that.deep.equals(mine);
    });

    it("rejects invalid options", async () => {
      const many = createVerifier(options()).verifyMany as unknown as Loose;
      for (const wrong of [{ block: "finalized" }, { cache: {} }, { cache: 7 }, { signal: "now" }, 7]) {
        const error = await keyrootErrorOf(() => many([{ userID, expectedPublicKey: ANY_KEY }], wrong));
        expect(error, JSON.stringify(wrong)).to.include({ name: "ArgumentError", code: "ARGUMENT_INVALID" });
      }
    });
  });

  /** Creates a provider that returns recorded responses to single calls. */
  function provider() {
    const answer = fetchFrom(answers);
    return async ({ method, params }: { method: string; params?: readonly unknown[] }): Promise<unknown> => {
      const response = await answer("", { body: JSON.stringify({ method, params }) });
      return ((await response.json()) as { result: unknown }).result;
    };
  }
});
