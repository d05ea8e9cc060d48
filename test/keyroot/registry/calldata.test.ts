import { expect } from "chai";
import { Interface } from "ethers";
import fc from "fast-check";
import { describeValue } from "keyroot/internal/input";
import { ArgumentError, TransportError, userIDToHex, VerificationError } from "keyroot";
import { randomUserID, userIDFromBytes } from "keyroot/records";
import { decodeUserCount } from "keyroot/internal/registry";
import {
  decodeBlockNumber,
  decodeMerkleTreeRoot,
  decodeOwner,
} from "../../../packages/keyroot/src/registry/answers.ts";
import { encodeAddMerkleTreeRoot } from "../../../packages/keyroot/src/registry/addRootCalldata.ts";
import {
  encodeGetBlockNumber,
  encodeGetMerkleTreeRoot,
  OWNER_CALL,
  USER_COUNT_CALL,
} from "../../../packages/keyroot/src/registry/calldata.ts";
import { INVALID_ANSWERS } from "../../support/data/junk.ts";

const ROOT = "0123456789abcdef".repeat(4);
const ZERO = "0".repeat(64);

describe("call data of the registry", () => {
  const contract = new Interface([
    "function addMerkleTreeRoot(bytes32 merkleTreeRoot, bytes userIDsPacked)",
    "function getMerkleTreeRoot(bytes20 userID) view returns (bytes32)",
    "function getBlockNumber(bytes32 merkleTreeRoot) view returns (uint256)",
    "function owner() view returns (address)",
    "function userCount() view returns (uint256)",
  ]);

  describe("for a call", () => {
    const userID = randomUserID();

    it("consists of the selector and the padded user id", () => {
      expect(encodeGetMerkleTreeRoot(userID)).to.equal(`0xee94c797${userIDToHex(userID)}000000000000000000000000`);
    });

    it("is the same as in ethers", () => {
      const data = contract.encodeFunctionData("getMerkleTreeRoot", [`0x${userIDToHex(userID)}`]);
      expect(encodeGetMerkleTreeRoot(userID)).to.equal(data);
      expect(encodeGetBlockNumber(ROOT)).to.equal(contract.encodeFunctionData("getBlockNumber", [`0x${ROOT}`]));
      expect(OWNER_CALL).to.equal(contract.encodeFunctionData("owner"));
      expect(USER_COUNT_CALL).to.equal(contract.encodeFunctionData("userCount"));
    });

    it("is the same as in ethers for addMerkleTreeRoot", () => {
      fc.assert(
        fc.property(fc.array(fc.uint8Array({ minLength: 20, maxLength: 20 }), { maxLength: 20 }), (ids) => {
          const packed = `0x${ids.map((bytes) => Buffer.from(bytes).toString("hex")).join("")}`;
          const expected = contract.encodeFunctionData("addMerkleTreeRoot", [`0x${ROOT}`, packed]);
          expect(encodeAddMerkleTreeRoot(ROOT, ids.map(userIDFromBytes))).to.equal(expected);
        }),
      );
    });

    it("requires a valid user id", () => {
      expect(() => encodeGetMerkleTreeRoot(userID.toUpperCase())).to.throw(ArgumentError, "zBase32");
    });
  });

  describe("decodeMerkleTreeRoot", () => {
    it("returns 64 lowercase hex digits", () => {
      expect(decodeMerkleTreeRoot(`0x${ROOT}`)).to.equal(ROOT);
      expect(decodeMerkleTreeRoot(`0x${ROOT.toUpperCase()}`)).to.equal(ROOT);
    });

    it("returns undefined for a user without a root", () => {
      expect(decodeMerkleTreeRoot(`0x${ZERO}`)).to.equal(undefined);
    });

    it("throws NO_CONTRACT for the result 0x", () => {
      expect(() => decodeMerkleTreeRoot("0x"))
        .to.throw(VerificationError)
        .and.include({ step: "root", code: "NO_CONTRACT", actual: "0x" })
        .and.property("message")
        .to.include("Check the address and the block.");
    });

    rejectsInvalid(decodeMerkleTreeRoot, [ROOT, `0x${ROOT.slice(1)}`, `0x${ROOT}0`, `0x${ROOT}${ROOT}`]);
  });

  for (const [name, decode] of Object.entries({ decodeBlockNumber, decodeUserCount })) {
    describe(name, () => {
      it("returns a number", () => {
        expect(decode(`0x${ZERO.slice(4)}1a2B`)).to.equal(0x1a2b);
        expect(decode(`0x${ZERO.slice(14)}1fffffffffffff`)).to.equal(Number.MAX_SAFE_INTEGER);
      });

      rejectsInvalid(decode, ["0x1", `0x${ZERO.slice(14)}20000000000000`, `0x${"f".repeat(64)}`]);
    });
  }

  describe("decodeOwner", () => {
    it("returns an address in lower case", () => {
      expect(decodeOwner(`0x${ZERO.slice(40)}${"Ab".repeat(20)}`)).to.equal(`0x${"ab".repeat(20)}`);
    });

    rejectsInvalid(decodeOwner, [
      `0x${"ab".repeat(20)}`,
      `0x1${ZERO.slice(1)}`,
      `0x${ZERO.slice(41)}1${"ab".repeat(20)}`,
    ]);
  });
});

function rejectsInvalid(decode: (answer: unknown) => unknown, others: string[]) {
  it("rejects results of any other form", () => {
    for (const answer of [...INVALID_ANSWERS, ...others]) {
      expect(() => decode(answer), describeValue(answer))
        .to.throw(TransportError)
        .and.include({ code: "RPC_ANSWER_INVALID", actual: describeValue(answer) });
    }
  });
}
