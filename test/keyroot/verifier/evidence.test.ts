import { expect } from "chai";
import { type VerificationError, pinnedBlock } from "keyroot";
import { sampleUserID } from "../../support/samples.ts";
import {
  describeOnChains,
  late,
  mine,
  nameOf,
  needsNoBlock,
  needsProof,
  SOURCES,
  resultOf,
  userID,
  ZERO,
} from "../../support/chain/fiveEndpoints.ts";
import { failure } from "../../support/support.ts";
import { verifyOnce } from "../../support/verifier/verifyOnce.ts";

describeOnChains("evidence of a verification", (chain) => {
  for (const source of SOURCES) {
    describe(nameOf(source), () => {
      it("names the block at which the key was found", async () => {
        const verified = await verifyOnce(userID, chain.optionsFor(source));
        expect(verified).to.deep.include({ record: mine, blockNumber: chain.blockNumber });
        const evidence = chain.evidenceOf(source, chain.head);
        const known = needsNoBlock(source)
          ? { source, storageProof: false, uniqueness: evidence.uniqueness }
          : evidence;
        expect(verified.evidence).to.deep.equal(known);
      });

      it("is a property of the NOT_PUBLISHED error", async () => {
        const error = await failure(verifyOnce(sampleUserID(9), chain.optionsFor(source)));
        expect(error).to.include({ name: "VerificationError", step: "root", code: "NOT_PUBLISHED" });
        const { evidence, message } = error as VerificationError;
        const { uniqueness, ...known } = chain.evidenceOf(source, chain.head);
        expect(uniqueness).to.equal("checked");
        expect(evidence).to.deep.equal(needsNoBlock(source) ? { source, storageProof: false } : known);
        if (!needsNoBlock(source)) expect(message).to.include(`as of block ${Number(chain.head.number)}`);
      });

      it("requires a contract at the address", async () => {
        const options = { ...chain.optionsFor(source), contract: `0x${"1".repeat(40)}` };
        const error = await failure(verifyOnce(userID, options));
        expect(error).to.include({ name: "VerificationError", step: "root", code: "NO_CONTRACT" });
      });

      it("requires the contract's code to have the given hash", async () => {
        const options = chain.optionsFor(source);
        expect(await resultOf({ ...options, codeHash: chain.codeHash })).to.equal("truth");
        expect(await resultOf({ ...options, codeHash: ZERO })).to.equal("CODE_HASH_MISMATCH");
      });

      it("requires endpoints on the given chain", async () => {
        const code = source === "endpoints" ? "QUORUM_NOT_REACHED" : "CHAIN_ID_MISMATCH";
        expect(await resultOf({ ...chain.optionsFor(source), chainId: 1 })).to.equal(code);
      });

      it("is rejected if its block is older than allowed", async () => {
        const now = () => (Number(chain.head.timestamp) + 60) * 1000;
        if (source === "pinned-block")
          return expect(await resultOf({ ...chain.optionsFor(source), now })).to.equal("truth");
        expect(await resultOf({ ...chain.optionsFor(source, { maxAgeMs: 60_000 }), now })).to.equal("truth");
        const error = await failure(verifyOnce(userID, { ...chain.optionsFor(source, { maxAgeMs: 59_999 }), now }));
        return expect(error).to.include({
          name: "VerificationError",
          step: "anchor",
          code: "STALE_BLOCK",
          actual: 60_000,
        });
      });

      it("is rejected if its block is more than 2 minutes ahead", async () => {
        const head = Number(chain.head.timestamp) * 1000;
        const resultAt = (time: number) => resultOf({ ...chain.optionsFor(source), now: () => time });
        expect(await resultAt(head - 120_000)).to.equal("truth");
        expect(await resultAt(head - 120_001)).to.equal(needsNoBlock(source) ? "truth" : "FUTURE_BLOCK");
      });

      it("is rejected if its root was added after its block", async () => {
        const options = chain.optionsFor(source);
        const at = Number(chain.head.number);
        const withNumber = async (number: number) => {
          chain.letLie(async (method, params, truth) => {
            const isAboutBlock = method === "eth_call" && JSON.stringify(params).includes("47378145");
            return isAboutBlock ? `0x${number.toString(16).padStart(64, "0")}` : truth(method, params);
          }, 5);
          return resultOf(options);
        };
        expect(await withNumber(at)).to.equal("truth");
        expect(await withNumber(at + 1)).to.equal(needsNoBlock(source) ? "truth" : "RPC_ANSWER_INVALID");
      });

      it("rejects a proof of a contract that stores its users in another slot", async () => {
        const options = { ...chain.optionsFor(source), contract: chain.olderContract };
        // A call runs the contract's code, so the slot has no effect. A proof covers only the slot of
        // PublicKeyRegistry, and an empty slot proves nothing about the user.
        expect(await resultOf(options)).to.equal(needsProof(source) ? "PROOF_INVALID" : "truth");
        if (!needsProof(source)) return;
        const { message } = (await failure(verifyOnce(userID, options))) as VerificationError;
        expect(message).to.match(
          /slot 2 shows no root .* but the contract returns 0x.* The contract is not a PublicKeyRegistry/,
        );
      });
    });
  }

  describe("at a tagged block", () => {
    for (const source of SOURCES.filter((source) => source !== "pinned-block")) {
      for (const block of ["latest", "safe", "finalized"] as const) {
        it(`names the ${block} block for ${nameOf(source)}`, async () => {
          const at = await chain.fetchBlock(block);
          const options = chain.optionsFor(source, { block, maxAgeMs: Number.MAX_SAFE_INTEGER });
          expect((await verifyOnce(userID, options)).evidence).to.deep.equal(chain.evidenceOf(source, at));
          const isPublished = Number(at.number) > Number(chain.earlier.number);
          expect(await resultOf(options, late)).to.equal(isPublished ? "truth" : "NOT_PUBLISHED");
        });
      }
    }
  });

  describe("at an earlier, pinned block", () => {
    it("shows only the keys at that block", async () => {
      const options = { ...chain.optionsFor("pinned-block"), trust: pinnedBlock(chain.earlier.hash) };
      expect(await resultOf(options)).to.equal("truth");
      const error = await failure(verifyOnce(late.userID, options));
      expect(error).to.include({ code: "NOT_PUBLISHED" });
      expect(error)
        .to.have.property("message")
        .that.includes(`as of block ${Number(chain.earlier.number)}.`);
    });
  });
});
