import { expect } from "chai";
import { slotOfUser, USERS_SLOT } from "keyroot/internal/registry";
import type { RpcCall } from "keyroot/internal/transport";
import { sampleUserID } from "../../support/samples.ts";
import {
  type BlockJson,
  describeOnChains,
  forged,
  late,
  lieAboutBlock,
  lieAboutContract,
  mine,
  nameOf,
  other,
  type Source,
  resultOf,
  userID,
  ZERO,
} from "../../support/chain/fiveEndpoints.ts";
import { verifyListOnce } from "../../support/verifier/verifyOnce.ts";
import type { Lie } from "../../support/chain/lyingEndpoint.ts";

describeOnChains("verifier with dishonest endpoints", (chain) => {
  // The table of docs/threat-model.md. `contract` is the result if `liars` endpoints report a false root, and `block`
  // the result if they invent a block.
  const table: [Source, liars: number, contract: string, block: string][] = [
    ["one-endpoint", 1, "lie", "lie"],
    ["own-node", 1, "PROOF_INVALID", "lie"],
    ["pinned-block", 1, "PROOF_INVALID", "HEADER_MISMATCH"],
    ["endpoints", 1, "truth", "truth"],
    ["endpoints", 2, "truth", "truth"],
    ["endpoints", 3, "lie", "lie"],
  ];
  for (const [source, liars, onContract, onBlock] of table) {
    const who = source === "endpoints" ? `${liars} of 5 endpoints` : "the endpoint";
    for (const [claim, root] of Object.entries({ "another key": `0x${forged.tree.root}`, "no key": ZERO })) {
      const lie = root === ZERO ? "NOT_PUBLISHED" : "lie";
      const resultFor = (expected: string) => (expected === "lie" ? lie : expected);
      const claims: Record<string, string> = { lie: "accepts the false answer", truth: "returns the published key" };
      const claimOf = (expected: string) => claims[expected] ?? `throws ${expected}`;

      it(`${claimOf(onContract)} with ${nameOf(source)} if ${who} reported ${claim}`, async () => {
        const state = await chain.inventState(root);
        chain.letLie((...call) => lieAboutContract(state, ...call), liars);
        expect(await resultOf(chain.optionsFor(source))).to.equal(resultFor(onContract));
      });

      it(`${claimOf(onBlock)} with ${nameOf(source)} if ${who} invented a block with ${claim}`, async () => {
        const state = await chain.inventState(root);
        chain.letLie((...call) => lieAboutBlock(state, ...call), liars);
        expect(await resultOf(chain.optionsFor(source))).to.equal(resultFor(onBlock));
      });
    }
  }

  describe("with an answer about the latest block that starts a download", () => {
    const answers: Record<string, unknown> = {
      "is the root of another file": `0x${forged.tree.root}`,
      "is a root without a file": `0x${"ab".repeat(32)}`,
      "is no root": ZERO,
      "is malformed": "0x",
      "never arrives": new Promise(() => undefined),
    };
    for (const [what, answer] of Object.entries(answers)) {
      it(`returns the published key if the answer ${what}`, async () => {
        for (const source of ["endpoints", "own-node", "pinned-block"] as const) {
          chain.letLie((method, params, truth) => {
            const isForLatest = method === "eth_call" && params[1] === "latest";
            return isForLatest ? answer : truth(method, params);
          }, 5);
          expect(await resultOf(chain.optionsFor(source)), source).to.equal("truth");
        }
      });
    }

    // In a list, an endpoint that never returns this answer returns nothing, because the answer is part of a batch.
    for (const [what, answer] of Object.entries(answers).filter(([what]) => what !== "never arrives")) {
      it(`returns the published key of each contact in a list if the answer ${what}`, async () => {
        for (const source of ["endpoints", "own-node", "pinned-block"] as const) {
          chain.letLie((method, params, truth) => {
            const isForLatest = method === "eth_call" && params[1] === "latest";
            return isForLatest ? answer : truth(method, params);
          }, 5);
          const { expectedPublicKey, ...options } = chain.optionsFor(source);
          const outcomes = await verifyListOnce(
            [
              { userID, expectedPublicKey },
              { userID, expectedPublicKey },
            ],
            options,
          );
          const keys = outcomes.map((outcome) =>
            "verified" in outcome ? outcome.verified.record.pubKey : outcome.error.code,
          );
          expect(keys, source).to.deep.equal([mine.pubKey, mine.pubKey]);
        }
      });
    }
  });

  describe("for a user without a root", () => {
    const claim = (root: string): Lie => {
      return (method, params, truth) => (method === "eth_call" ? Promise.resolve(root) : truth(method, params));
    };

    it("accepts an empty slot only if the contract also returns no root", async () => {
      chain.letLie(claim(ZERO), 1);
      const unknown = { ...late, userID: sampleUserID(7) };
      expect(await resultOf(chain.optionsFor("own-node"), unknown)).to.equal("NOT_PUBLISHED");
      expect(await resultOf({ ...chain.optionsFor("own-node"), contract: chain.olderContract })).to.equal(
        "NOT_PUBLISHED",
      );
    });

    it("reports NOT_PUBLISHED if 2 of 5 endpoints claim a root", async () => {
      chain.letLie(claim(`0x${forged.tree.root}`), 2);
      const unknown = { ...late, userID: sampleUserID(7) };
      expect(await resultOf(chain.optionsFor("endpoints"), unknown)).to.equal("NOT_PUBLISHED");
    });
  });

  describe("with a false block header", () => {
    const change = (change: (block: BlockJson) => unknown): Lie => {
      return async (method, params, truth) =>
        method.startsWith("eth_getBlockBy")
          ? change((await truth(method, params)) as BlockJson)
          : truth(method, params);
    };
    const lies: [string, Lie, code: string, pinned?: string][] = [
      ["with another hash", change((block) => ({ ...block, hash: ZERO })), "HEADER_MISMATCH", "truth"],
      ["without a hash", change((block) => ({ ...block, hash: null })), "HEADER_MISMATCH", "truth"],
      ["with a hash that is not text", change((b) => ({ ...b, hash: { toString: 1 } })), "HEADER_MISMATCH", "truth"],
      ["with another number", change((block) => ({ ...block, number: "0x1" })), "HEADER_MISMATCH"],
      ["with another time", change((block) => ({ ...block, timestamp: "0x1" })), "HEADER_MISMATCH"],
      ["with another state root", change((block) => ({ ...block, stateRoot: ZERO })), "HEADER_MISMATCH"],
      ["without a field", change((block) => ({ ...block, nonce: undefined })), "HEADER_INVALID"],
      ["that is not an object", change(() => "0x"), "HEADER_INVALID"],
      ["that is null", change(() => null), "RPC_ANSWER_INVALID"],
    ];
    for (const [what, lie, code, pinned = code] of lies) {
      it(`throws ${code} for a header ${what}`, async () => {
        for (const source of ["one-endpoint", "own-node", "pinned-block"] as const) {
          chain.letLie(lie, 1);
          const options = chain.optionsFor(source, { maxAgeMs: Number.MAX_SAFE_INTEGER });
          expect(await resultOf(options), source).to.equal(source === "pinned-block" ? pinned : code);
        }
      });
    }

    const old = change(() => chain.earlier);

    it("throws HEADER_MISMATCH for a block other than the pinned block", async () => {
      chain.letLie(old, 1);
      expect(await resultOf(chain.optionsFor("pinned-block"))).to.equal("HEADER_MISMATCH");
    });

    it("throws STALE_BLOCK for a block above the age limit", async () => {
      chain.letLie(old, 1);
      const now = () => (Number(chain.earlier.timestamp) + 60) * 1000;
      expect(await resultOf({ ...chain.optionsFor("own-node"), now }, late)).to.equal("NOT_PUBLISHED");
      const strict = chain.optionsFor("own-node", { maxAgeMs: 59_999 });
      expect(await resultOf({ ...strict, now }, late)).to.equal("STALE_BLOCK");
    });
  });

  describe("with false storage proofs", () => {
    interface Proof {
      accountProof: string[];
      storageProof: [{ proof: string[] }];
    }
    const answerProof = (prove: (contract: string, truth: RpcCall) => unknown): Lie => {
      return (method, params, truth) =>
        method === "eth_getProof" ? prove(params[0] as string, truth) : truth(method, params);
    };
    const of = (user: string, at?: string) => (contract: string, truth: RpcCall) =>
      truth("eth_getProof", [contract, [slotOfUser(user, USERS_SLOT)], at ?? chain.head.number]);
    const change = (change: (proof: Proof) => unknown) => async (contract: string, truth: RpcCall) =>
      change((await of(userID)(contract, truth)) as Proof);

    const lies: [string, (contract: string, truth: RpcCall) => unknown][] = [
      ["of another user", of(other.userID)],
      ["of a user without a key", of(sampleUserID(9))],
      ["of an earlier block", (...call) => of(userID, chain.earlier.number)(...call)],
      ["of another contract", (_, truth) => of(userID)(chain.olderContract, truth)],
      ["without nodes", change(() => ({ accountProof: [], storageProof: [{ proof: [] }] }))],
      [
        "without its last node",
        change((proof) => ({ ...proof, storageProof: [{ proof: proof.storageProof[0].proof.slice(0, -1) }] })),
      ],
      ["that is null", () => null],
    ];
    for (const [what, prove] of lies) {
      it(`throws PROOF_INVALID for a proof ${what}`, async () => {
        for (const source of ["own-node", "pinned-block"] as const) {
          chain.letLie(answerProof(prove), 1);
          expect(await resultOf(chain.optionsFor(source)), source).to.equal("PROOF_INVALID");
        }
      });
    }
  });
});
