import { expect } from "chai";
import { type VerificationError, verifyPublicKey } from "keyroot";
import { sampleUserID } from "../../support/samples.ts";
import {
  describeOnChains,
  late,
  mine,
  nameOf,
  needsNoBlock,
  PAIRS,
  resultOf,
  userID,
  ZERO,
} from "../../support/chain/fiveEndpoints.ts";
import { failure } from "../../support/support.ts";

describeOnChains("evidence of a verification", (chain) => {
  for (const pair of PAIRS) {
    describe(nameOf(pair), () => {
      it("names the block at which the key was found", async () => {
        const verified = await verifyPublicKey(userID, chain.optionsFor(pair));
        expect(verified).to.deep.include({ record: mine, blockNumber: chain.blockNumber });
        const evidence = chain.evidenceOf(pair, chain.head);
        const known = needsNoBlock(pair) ? { ...pair, uniqueness: evidence.uniqueness } : evidence;
        expect(verified.evidence).to.deep.equal(known);
      });

      it("is a property of the NOT_PUBLISHED error", async () => {
        const error = await failure(verifyPublicKey(sampleUserID(9), chain.optionsFor(pair)));
        expect(error).to.include({ name: "VerificationError", step: "root", code: "NOT_PUBLISHED" });
        const { evidence, message } = error as VerificationError;
        const { uniqueness, ...known } = chain.evidenceOf(pair, chain.head);
        expect(uniqueness).to.equal("checked");
        expect(evidence).to.deep.equal(needsNoBlock(pair) ? pair : known);
        if (!needsNoBlock(pair)) expect(message).to.include(`as of block ${Number(chain.head.number)}`);
      });

      it("requires a contract at the address", async () => {
        const options = { ...chain.optionsFor(pair), contract: `0x${"1".repeat(40)}` };
        const error = await failure(verifyPublicKey(userID, options));
        expect(error).to.include({ name: "VerificationError", step: "root", code: "NO_CONTRACT" });
      });

      it("requires the contract's code to have the given hash", async () => {
        const options = chain.optionsFor(pair);
        expect(await resultOf({ ...options, codeHash: chain.codeHash })).to.equal("truth");
        expect(await resultOf({ ...options, codeHash: ZERO })).to.equal("CODE_HASH_MISMATCH");
      });

      it("requires endpoints on the given chain", async () => {
        const code = pair.anchor === "quorum" ? "QUORUM_NOT_REACHED" : "CHAIN_ID_MISMATCH";
        expect(await resultOf({ ...chain.optionsFor(pair), chainId: 1 })).to.equal(code);
      });

      it("is rejected if its block is older than allowed", async () => {
        const now = () => (Number(chain.head.timestamp) + 60) * 1000;
        expect(await resultOf({ ...chain.optionsFor(pair), now, maxAgeMs: 60_000 })).to.equal("truth");
        const error = await failure(verifyPublicKey(userID, { ...chain.optionsFor(pair), now, maxAgeMs: 59_999 }));
        expect(error).to.include({ name: "VerificationError", step: "anchor", code: "STALE_BLOCK", actual: 60_000 });
      });

      it("is rejected if its block is more than 2 minutes ahead", async () => {
        const head = Number(chain.head.timestamp) * 1000;
        const resultAt = (time: number) => resultOf({ ...chain.optionsFor(pair), now: () => time });
        expect(await resultAt(head - 120_000)).to.equal("truth");
        expect(await resultAt(head - 120_001)).to.equal(needsNoBlock(pair) ? "truth" : "FUTURE_BLOCK");
      });

      it("is rejected if its root was added after its block", async () => {
        const options = chain.optionsFor(pair);
        const at = Number(chain.head.number);
        const withNumber = async (number: number) => {
          chain.letLie(async (method, params, truth) => {
            const isAboutBlock = method === "eth_call" && JSON.stringify(params).includes("47378145");
            return isAboutBlock ? `0x${number.toString(16).padStart(64, "0")}` : truth(method, params);
          }, 5);
          return resultOf(options);
        };
        expect(await withNumber(at)).to.equal("truth");
        expect(await withNumber(at + 1)).to.equal(needsNoBlock(pair) ? "truth" : "RPC_ANSWER_INVALID");
      });

      it("supports a contract that stores its users at slot 1", async () => {
        const options = { ...chain.optionsFor(pair), contract: chain.olderContract };
        expect(await resultOf({ ...options, usersSlot: 1 })).to.equal("truth");
        // A call runs the contract's code, so the slot has no effect. A proof covers only the slot in the options. An
        // empty slot proves nothing about the user.
        expect(await resultOf(options)).to.equal(pair.storageProof ? "PROOF_INVALID" : "truth");
        if (!pair.storageProof) return;
        const { message } = (await failure(verifyPublicKey(userID, options))) as VerificationError;
        expect(message).to.match(/slot 2 shows no root .* but the contract returns 0x.* Set usersSlot/);
      });
    });
  }

  describe("at a tagged block", () => {
    for (const pair of PAIRS.filter(({ anchor }) => anchor !== "pinned")) {
      for (const block of ["latest", "safe", "finalized"] as const) {
        it(`names the ${block} block for ${nameOf(pair)}`, async () => {
          const at = await chain.fetchBlock(block);
          const options = { ...chain.optionsFor(pair), block, maxAgeMs: Number.MAX_SAFE_INTEGER };
          expect((await verifyPublicKey(userID, options)).evidence).to.deep.equal(chain.evidenceOf(pair, at));
          const isPublished = Number(at.number) > Number(chain.earlier.number);
          expect(await resultOf(options, late)).to.equal(isPublished ? "truth" : "NOT_PUBLISHED");
        });
      }
    }
  });

  describe("at an earlier, pinned block", () => {
    for (const storageProof of [false, true]) {
      it(`shows only the keys at that block if storageProof is ${storageProof}`, async () => {
        const options = { ...chain.optionsFor({ anchor: "pinned", storageProof }), pinned: chain.earlier.hash };
        expect(await resultOf(options)).to.equal("truth");
        const error = await failure(verifyPublicKey(late.userID, options));
        expect(error).to.include({ code: "NOT_PUBLISHED" });
        expect(error)
          .to.have.property("message")
          .that.includes(`as of block ${Number(chain.earlier.number)}.`);
      });
    }
  });
});
