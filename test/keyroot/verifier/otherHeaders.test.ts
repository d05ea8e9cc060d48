import { expect } from "chai";
import { encodeRlp, keccak256 } from "ethers";
import { type KeyrootError, ownNode, pinnedBlock } from "keyroot";
import { extractHeader } from "keyroot/internal/ethereum";
import {
  type BlockJson,
  describeOnChains,
  lieAboutBlock,
  mine,
  resultOf,
  userID,
  ZERO,
} from "../../support/chain/fiveEndpoints.ts";
import type { Lie } from "../../support/chain/lyingEndpoint.ts";
import { failure } from "../../support/support.ts";
import { verifierAt } from "../../support/verifier/verifyOnce.ts";

/** The fields that Avalanche's C-chain adds to a header, and one that only the block has. */
const ADDED = { extDataHash: `0x${"56".repeat(32)}`, extDataGasUsed: "0x0", blockGasCost: "0x186a0" };
const AVALANCHE = { ...ADDED, blockExtraData: "0x" };

/** The hash of a block whose header also has these fields. */
function hashWith(block: BlockJson, added: Readonly<Record<string, string>>): string {
  const fields = Object.values({ ...extractHeader(block), ...added });
  return keccak256(encodeRlp(fields.map((value) => (/^0x0*$/.test(value) ? "0x" : evenHex(value)))));
}

const evenHex = (value: string) => (value.length % 2 === 0 ? value : `0x0${value.slice(2)}`);

describeOnChains("the verifier on a chain whose headers have other fields", (chain) => {
  /** The true hashes of the blocks, by the hashes that the endpoints report. */
  const trueHashes = new Map<string, string>();
  const asAvalanche: Lie = async (method, params, truth) => {
    const text = JSON.stringify(params).replaceAll(/0x[0-9a-f]{64}(?=")/g, (hash) => trueHashes.get(hash) ?? hash);
    const answer = await truth(method, JSON.parse(text) as unknown[]);
    if (!method.startsWith("eth_getBlockBy") || answer === null) return answer;
    const block = answer as BlockJson;
    const hash = hashWith(block, ADDED);
    trueHashes.set(hash, block.hash);
    return { ...block, ...AVALANCHE, hash };
  };
  /** Returns blocks of this chain with an invented block, or with more fields. */
  const withFields =
    (fields: object, lie?: Lie): Lie =>
    async (method, params, truth) => {
      const answer = await (lie ?? ((...call) => truth(call[0], call[1])))(method, params, truth);
      return method.startsWith("eth_getBlockBy") ? { ...(answer as object), ...fields } : answer;
    };

  it("verifies a key with oneEndpoint() without options, which needs no header", async () => {
    chain.letLie(asAvalanche, 5);
    expect(await resultOf(chain.optionsFor("one-endpoint"))).to.equal("truth");
  });

  it("throws HEADER_UNSUPPORTED with all choices that need a header", async () => {
    chain.letLie(asAvalanche, 5);
    const pinned = { ...chain.optionsFor("one-endpoint"), trust: pinnedBlock(hashWith(chain.head, ADDED)) };
    trueHashes.set(hashWith(chain.head, ADDED), chain.head.hash);
    for (const options of [
      chain.optionsFor("one-endpoint", { block: "finalized" }),
      chain.optionsFor("one-endpoint", { maxAgeMs: Number.MAX_SAFE_INTEGER }),
      chain.optionsFor("endpoints"),
      chain.optionsFor("own-node"),
      pinned,
    ])
      expect(await resultOf(options)).to.equal("HEADER_UNSUPPORTED");
  });

  it("advises the developer before the first verification, and warns after it", async () => {
    chain.letLie(asAvalanche, 5);
    // Other tests in this process may have verified keys of the registry.
    const strange = { ...chain.place(), contract: `0x${"a5a5".repeat(10)}`, trust: ownNode() };
    const error = await failure(verifierAt(strange).verify(userID, { expectedPublicKey: mine.pubKey }));
    expect(error).to.include({ code: "HEADER_UNSUPPORTED", step: "anchor", advice: "developer" });
    expect(error).to.have.property("message").that.includes("extDataHash").and.includes("oneEndpoint()");
    expect(error).to.have.nested.property("cause.code", "HEADER_MISMATCH");

    expect(await resultOf(chain.optionsFor("one-endpoint"))).to.equal("truth");
    const verifier = verifierAt({ ...chain.place(), trust: ownNode() });
    const later = (await failure(verifier.verify(userID, { expectedPublicKey: mine.pubKey }))) as KeyrootError;
    expect(later).to.include({ code: "HEADER_UNSUPPORTED", advice: "warn" });
  });

  it("accepts Ethereum's headers with fields that their hash does not cover", async () => {
    chain.letLie(withFields({ ...AVALANCHE, l1BlockNumber: "0x1" }), 5);
    for (const source of ["endpoints", "own-node", "pinned-block"] as const)
      expect(await resultOf(chain.optionsFor(source))).to.equal("truth");
  });

  it("never accepts an invented block because of such fields", async () => {
    const invented = await chain.inventState(ZERO);
    const lie: Lie = (...call) => lieAboutBlock(invented, ...call);
    for (const [fields, code] of [
      [AVALANCHE, "HEADER_UNSUPPORTED"],
      [{ l1BlockNumber: "0x1", sendCount: "0x1", sendRoot: ZERO }, "HEADER_MISMATCH"],
    ] as const) {
      chain.letLie(withFields(fields, lie), 5);
      expect(await resultOf(chain.optionsFor("pinned-block"))).to.equal(code);
    }
  });
});
