import { expect } from "chai";
import { id } from "ethers";
import { parseLogs } from "../../../packages/keyroot/src/ethereum/log.ts";
import { refusalOf } from "../../support/refusalOf.ts";

const HASH = id("hash");
const LOG = {
  address: `0x${"Ab".repeat(20)}`,
  topics: [HASH.toUpperCase().replace("0X", "0x"), HASH],
  data: "0x00fF",
  blockNumber: "0x10",
  blockHash: HASH,
  transactionHash: HASH,
  transactionIndex: "0x0",
  logIndex: "0x2",
  removed: false,
};

describe("parseLogs", () => {
  it("returns numbers as numbers and hex in lower case", () => {
    const expected = {
      address: `0x${"ab".repeat(20)}`,
      topics: [HASH, HASH],
      data: "0x00ff",
      blockNumber: 16,
      blockHash: HASH,
      transactionHash: HASH,
      logIndex: 2,
    };
    expect(parseLogs([LOG, { ...LOG, removed: undefined, logIndex: "0x3" }])).to.deep.equal([
      expected,
      { ...expected, logIndex: 3 },
    ]);
    expect(parseLogs([])).to.deep.equal([]);
  });

  const invalid: [string, unknown][] = [
    ["a value that is not an array", LOG],
    ["null", null],
    ["a log that is null", [null]],
    ["an address of 19 bytes", [{ ...LOG, address: LOG.address.slice(0, -2) }]],
    ["no topics", [{ ...LOG, topics: undefined }]],
    ["a topic of 31 bytes", [{ ...LOG, topics: [HASH.slice(0, -2)] }]],
    ["an odd number of digits as data", [{ ...LOG, data: "0x0" }]],
    ["data without 0x", [{ ...LOG, data: "00" }]],
    ["a block number without digits", [{ ...LOG, blockNumber: "0x" }]],
    ["the null hash of a pending block", [{ ...LOG, blockHash: null }]],
    ["no transaction hash", [{ ...LOG, transactionHash: undefined }]],
    ["a log index as a number", [{ ...LOG, logIndex: 2 }]],
    ["a removed log", [{ ...LOG, removed: true }]],
  ];
  for (const [name, answer] of invalid) {
    it(`throws RPC_ANSWER_INVALID for ${name}`, () => {
      expect(refusalOf(parseLogs, answer)).to.equal("transport: RPC_ANSWER_INVALID");
    });
  }
});
