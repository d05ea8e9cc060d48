import { expect } from "chai";
import { toBeHex } from "ethers";
import { type Eip1193Provider, type KeyrootError, endpoints } from "keyroot";
import {
  describeOnChains,
  forged,
  GET_BLOCK_NUMBER,
  lieAboutBlock,
  mine,
  rehash,
  resultOf,
  userID,
} from "../../support/chain/fiveEndpoints.ts";
import type { Lie } from "../../support/chain/lyingEndpoint.ts";
import { failure } from "../../support/support.ts";
import { verifyOnce, type OnceOptions } from "../../support/verifier/verifyOnce.ts";

const QUORUM = "endpoints";
/** If the verifier waited for an endpoint that never responds, the test would exceed its time limit. */
const PATIENT = { timeoutMs: 3_600_000 };
const never = new Promise<never>(() => undefined);
const isBlockRequest = (method: string) => method.startsWith("eth_getBlockBy");
const isForLatest = ([tag]: readonly unknown[]) => tag === "latest";

describeOnChains("3 endpoints that must agree", (chain) => {
  describe("with 2 dishonest endpoints of 5", () => {
    const lies: Record<string, Lie> = {
      "never respond": () => never,
      "return null": () => null,
      "return an error": () => Promise.reject(new Error()),
      "belong to another chain": (method, params, truth) => (method === "eth_chainId" ? "0x1" : truth(method, params)),
      "return a much higher block number": async (method, params, truth) => {
        const answer = await truth(method, params);
        return method === "eth_getBlockByNumber" && isForLatest(params)
          ? rehash(answer, { number: "0xffffff" })
          : answer;
      },
      "return a much lower block number": (method, params, truth) =>
        truth(method, method === "eth_getBlockByNumber" && isForLatest(params) ? ["0x1", false] : params),
      "return another block than the requested one": (method, params, truth) =>
        truth(method, method === "eth_getBlockByNumber" && !isForLatest(params) ? ["0x1", false] : params),
      "change the block's number": async (method, params, truth) => {
        const answer = await truth(method, params);
        return isBlockRequest(method) && !isForLatest(params) ? rehash(answer, { number: "0x1" }) : answer;
      },
      "agree on the block and then stop responding": (method, params, truth) =>
        isBlockRequest(method) ? truth(method, params) : never,
      "agree on the block and then return errors": (method, params, truth) =>
        isBlockRequest(method) ? truth(method, params) : Promise.reject(new Error()),
      "agree on the root and then return another block number for it": (method, params, truth) =>
        JSON.stringify(params).includes(GET_BLOCK_NUMBER) ? toBeHex(1, 32) : truth(method, params),
    };
    for (const [what, lie] of Object.entries(lies)) {
      it(`succeeds if both ${what}`, async () => {
        chain.letLie(lie, 2);
        const verified = await verifyOnce(userID, { ...chain.optionsFor(QUORUM), limits: PATIENT });
        const { blockNumber, head } = chain;
        expect(verified).to.deep.include({ record: mine, blockNumber, evidence: chain.evidenceOf(QUORUM, head) });
      });
    }
  });

  describe("with 2 faulty endpoints of 5", () => {
    const nested = JSON.parse("[".repeat(100_000) + "]".repeat(100_000)) as unknown;
    for (const [what, answer] of Object.entries({
      "1 MiB of text": "0x".padEnd(2 ** 20, "0"),
      "a deeply nested array": nested,
      "a bigint": 1n,
    })) {
      it(`succeeds if both return ${what} for every call`, async () => {
        const request = (): Promise<unknown> => Promise.resolve(answer);
        const providers: Eip1193Provider[] = [{ request }, { request }];
        const options = { ...chain.optionsFor(QUORUM), rpc: [...providers, ...chain.urls().slice(0, 3)] };
        expect(await resultOf(options)).to.equal("truth");
      });

      it(`succeeds if both return ${what} for one method`, async () => {
        for (const method of ["eth_chainId", "eth_call", "eth_getCode", "eth_getProof", GET_BLOCK_NUMBER]) {
          const request: Eip1193Provider["request"] = (args) =>
            JSON.stringify([args.method, args.params]).includes(method)
              ? Promise.resolve(answer)
              : chain.call(args.method, (args.params ?? []) as unknown[]);
          const rpc = [{ request }, { request }, ...chain.urls().slice(0, 3)];
          const options = { ...chain.optionsFor(QUORUM), codeHash: chain.codeHash, rpc };
          expect(await resultOf(options), method).to.equal("truth");
        }
      });
    }

    it("succeeds if both invent a block and a third endpoint is behind", async () => {
      const ahead: Lie = (_, params) => (isForLatest(params) ? rehash(chain.head, { number: "0xffffff" }) : null);
      const behind: Lie = (method, params, truth) => {
        if (method === "eth_getBlockByNumber" && isForLatest(params)) return chain.earlier;
        return params[0] === chain.head.number ? null : truth(method, params);
      };
      chain.letLie(behind, 3);
      chain.letLie(ahead, 2);
      const { evidence } = await verifyOnce(userID, chain.optionsFor(QUORUM));
      expect(evidence).to.deep.equal(chain.evidenceOf(QUORUM, chain.earlier));
    });

    it("succeeds after the timeout if neither of them responds", async () => {
      chain.letLie((method, params, truth) => (isForLatest(params) ? chain.earlier : truth(method, params)), 3);
      chain.letLie(() => never, 2);
      const options = { ...chain.optionsFor(QUORUM), limits: { timeoutMs: 6_000 } };
      const { evidence } = await verifyOnce(userID, options);
      expect(evidence).to.deep.equal(chain.evidenceOf(QUORUM, chain.earlier));
    });
  });

  describe("without enough agreement", () => {
    const dead: Lie = () => Promise.reject(new Error());
    const errorClass = async (options: OnceOptions) => {
      const error = await failure(verifyOnce(userID, options));
      expect(error).to.include({ code: "QUORUM_NOT_REACHED" });
      return (error as KeyrootError).name;
    };

    it(`throws a TransportError if too few endpoints respond`, async () => {
      chain.letLie(dead, 3);
      expect(await errorClass(chain.optionsFor(QUORUM))).to.equal("TransportError");
    });

    it(`throws a VerificationError if two groups disagree`, async () => {
      const state = await chain.inventState(`0x${forged.tree.root}`);
      chain.letLie((...call) => lieAboutBlock(state, ...call), 2);
      const options = { ...chain.optionsFor(QUORUM), rpc: chain.urls().slice(0, 4), trust: endpoints({ required: 2 }) };
      expect(await errorClass(options)).to.equal("VerificationError");
    });

    it(`throws a VerificationError after a false answer`, async () => {
      const state = await chain.inventState(`0x${forged.tree.root}`);
      chain.letLie(dead, 3);
      chain.letLie((...call) => lieAboutBlock(state, ...call), 1);
      expect(await errorClass(chain.optionsFor(QUORUM))).to.equal("VerificationError");
    });

    it("throws a TransportError if too many endpoints return another block than the requested one", async () => {
      const behind: Lie = (method, params, truth) =>
        method === "eth_getBlockByNumber" && isForLatest(params) ? chain.earlier : truth(method, params);
      const genesis: Lie = (method, params, truth) =>
        truth(method, isBlockRequest(method) && params[0] !== "latest" ? ["0x0", false] : params);
      chain.letLie(behind, 5);
      chain.letLie(genesis, 2);
      const options = { ...chain.optionsFor(QUORUM), trust: endpoints({ required: 4 }) };
      expect(await errorClass(options)).to.equal("TransportError");
    });
  });

  it("counts equal answers in upper and lower case as one vote", async () => {
    const upperCase: Lie = async (method, params, truth) => {
      const answer = JSON.stringify(await truth(method, params));
      return JSON.parse(answer.replace(/"0x[0-9a-f]*"/g, (hex) => hex.toUpperCase().replace("0X", "0x"))) as unknown;
    };
    chain.letLie(upperCase, 2);
    const options = { ...chain.optionsFor(QUORUM), codeHash: chain.codeHash, trust: endpoints({ required: 5 }) };
    expect(await resultOf(options)).to.equal("truth");
  });

  it("ends immediately when the caller aborts", async () => {
    chain.letLie(() => never, 5);
    const options = chain.optionsFor(QUORUM);
    expect(await resultOf({ ...options, limits: PATIENT, signal: AbortSignal.timeout(50) })).to.equal("ABORTED");
  });
});
