import { expect } from "chai";
import { keccak256 } from "ethers";
import { EMPTY_CODE_HASH } from "../../../packages/keyroot/src/ethereum/checkCodeHash.ts";
import { fetchCodeHash } from "keyroot/internal/ethereum";
import { describeValue } from "keyroot/internal/input";
import { INVALID_ANSWERS } from "../../support/data/junk.ts";
import { failure } from "../../support/support.ts";

const CONTRACT = `0x${"12".repeat(20)}`;
const fetchFrom = (code: unknown) => fetchCodeHash(() => Promise.resolve(code), CONTRACT, "latest");

describe("fetchCodeHash", () => {
  it("returns the Keccak-256 hash of the contract's code", async () => {
    expect(await fetchFrom("0x60Fe")).to.equal(keccak256("0x60fe"));
  });

  it("returns EMPTY_CODE_HASH for an address without code", async () => {
    expect(await fetchFrom("0x")).to.equal(keccak256("0x"));
    expect(EMPTY_CODE_HASH).to.equal(keccak256("0x"));
  });

  it("accepts code of any length", async () => {
    const code = `0x${"60".repeat(2 ** 20)}`;
    expect(await fetchFrom(code)).to.equal(keccak256(code));
  });

  it("requests the contract's code at the given block", async () => {
    const calls: unknown[] = [];
    const call = (...args: unknown[]) => Promise.resolve((calls.push(args), "0x"));
    await fetchCodeHash(call, CONTRACT, { blockHash: "0x01" });
    expect(calls).to.deep.equal([["eth_getCode", [CONTRACT, { blockHash: "0x01" }]]]);
  });

  it("rejects responses that are not bytes in hex", async () => {
    for (const answer of [...INVALID_ANSWERS, "6000", "0x600", "0x60 00"]) {
      expect(await failure(fetchFrom(answer)), describeValue(answer)).to.include({
        name: "TransportError",
        code: "RPC_ANSWER_INVALID",
        actual: describeValue(answer),
      });
    }
  });
});
