import { expect } from "chai";
import { id, Interface } from "ethers";
import { describeValue } from "../../../packages/keyroot/src/input/describeValue.ts";
import { ArgumentError, TransportError, VerificationError } from "../../../packages/keyroot/src/errors.ts";
import { randomUserID, userIDToHex } from "../../../packages/keyroot/src/identity/userID.ts";
import {
  decodeBlockNumber,
  decodeChainId,
  decodeCode,
  decodeMerkleTreeRoot,
  encodeGetBlockNumber,
  encodeGetMerkleTreeRoot,
} from "../../../packages/keyroot/src/registry/calldata.ts";

const ROOT = "0123456789abcdef".repeat(4);
const ZERO = "0".repeat(64);

/** Nothing of the kind that an endpoint should answer, whatever was asked. */
const NONSENSE = [undefined, null, true, 1, 1n, "", "latest", "0xg0", `0x${ROOT}\n`, ` 0x${ROOT}`, [`0x${ROOT}`], {}];

describe("registry calls", () => {
  const contract = new Interface([
    "function getMerkleTreeRoot(bytes20 userID) view returns (bytes32)",
    "function getBlockNumber(bytes32 merkleTreeRoot) view returns (uint256)",
  ]);

  describe("encoding", () => {
    const userID = randomUserID();

    it("begins with the first four bytes of the signature's Keccak-256", () => {
      expect(encodeGetMerkleTreeRoot(userID).slice(0, 10)).to.equal(id("getMerkleTreeRoot(bytes20)").slice(0, 10));
      expect(encodeGetBlockNumber(ROOT).slice(0, 10)).to.equal(id("getBlockNumber(bytes32)").slice(0, 10));
    });

    it("is, for a user's root, selector, 20 bytes of the id and 12 zero bytes", () => {
      expect(encodeGetMerkleTreeRoot(userID)).to.equal(`0xee94c797${userIDToHex(userID)}000000000000000000000000`);
    });

    it("is what ethers makes of the signature", () => {
      const data = contract.encodeFunctionData("getMerkleTreeRoot", [`0x${userIDToHex(userID)}`]);
      expect(encodeGetMerkleTreeRoot(userID)).to.equal(data);
      expect(encodeGetBlockNumber(ROOT)).to.equal(contract.encodeFunctionData("getBlockNumber", [`0x${ROOT}`]));
    });

    it("takes no malformed user id", () => {
      expect(() => encodeGetMerkleTreeRoot(userID.toUpperCase())).to.throw(ArgumentError, "zBase32");
    });
  });

  describe("decodeMerkleTreeRoot", () => {
    it("returns 64 hex digits in lower case", () => {
      expect(decodeMerkleTreeRoot(`0x${ROOT}`)).to.equal(ROOT);
      expect(decodeMerkleTreeRoot(`0x${ROOT.toUpperCase()}`)).to.equal(ROOT);
    });

    it("tells a user without a root", () => {
      expect(decodeMerkleTreeRoot(`0x${ZERO}`)).to.equal(undefined);
    });

    it("takes 0x for the lack of a contract", () => {
      expect(() => decodeMerkleTreeRoot("0x"))
        .to.throw(VerificationError)
        .and.include({ step: "root", code: "NO_CONTRACT", actual: "0x" });
    });

    refuses(decodeMerkleTreeRoot, [ROOT, `0x${ROOT.slice(1)}`, `0x${ROOT}0`, `0x${ROOT}${ROOT}`]);
  });

  describe("decodeBlockNumber", () => {
    it("returns a number", () => {
      expect(decodeBlockNumber(`0x${ZERO.slice(4)}1a2B`)).to.equal(0x1a2b);
      expect(decodeBlockNumber(`0x${ZERO.slice(14)}1fffffffffffff`)).to.equal(Number.MAX_SAFE_INTEGER);
    });

    refuses(decodeBlockNumber, ["0x1", `0x${ZERO.slice(14)}20000000000000`, `0x${"f".repeat(64)}`]);
  });

  describe("decodeChainId", () => {
    it("returns a number", () => {
      expect(["0x1", "0xAa36a7", "0x0001"].map(decodeChainId)).to.deep.equal([1, 11_155_111, 1]);
    });

    refuses(decodeChainId, ["0x", "1", "0x1.5", "-0x1", "0x20000000000000", `0x1${"0".repeat(16)}`, `0x${ROOT}`]);
  });

  describe("decodeCode", () => {
    it("returns the digits after 0x, of which there may be none", () => {
      expect(decodeCode("0x6000")).to.equal("6000");
      expect(decodeCode("0x")).to.equal("");
    });

    it("takes a long code", () => {
      expect(decodeCode(`0x${"60".repeat(2 ** 20)}`)).to.have.lengthOf(2 ** 21);
    });

    refuses(decodeCode, ["6000", "0x600", "0x60 00"]);
  });
});

/** An endpoint that answers so has not answered. */
function refuses(decode: (answer: unknown) => unknown, others: string[]) {
  it("refuses all that is not of this form", () => {
    for (const answer of [...NONSENSE, ...others]) {
      expect(() => decode(answer), describeValue(answer))
        .to.throw(TransportError)
        .and.include({ code: "RPC_ANSWER_INVALID", actual: describeValue(answer) });
    }
  });
}
