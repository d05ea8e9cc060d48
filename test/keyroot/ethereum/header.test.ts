import { expect } from "chai";
import { encodeRlp, keccak256 } from "ethers";
import fc from "fast-check";
import hre from "hardhat";
import { hashHeader, type HeaderJson, extractHeader } from "../../../packages/keyroot/src/ethereum/header.ts";
import { describeOnAnvil, startAnvil } from "../../support/anvil/anvil.ts";
import { refusalOf } from "../../support/refusalOf.ts";
import { closedAfterEach, rpc } from "../../support/support.ts";

const ZERO = "0".repeat(64);
const NO_UNCLES = "0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347";
const EMPTY_TRIE = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421";

/** The first two blocks of Ethereum mainnet. */
const MAINNET: [hash: string, header: HeaderJson][] = [
  [
    "0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3",
    {
      parentHash: `0x${ZERO}`,
      sha3Uncles: NO_UNCLES,
      miner: `0x${"0".repeat(40)}`,
      stateRoot: "0xd7f8974fb5ac78d9ac099b9ad5018bedc2ce0a72dad1827a1709da30580f0544",
      transactionsRoot: EMPTY_TRIE,
      receiptsRoot: EMPTY_TRIE,
      logsBloom: `0x${"0".repeat(512)}`,
      difficulty: "0x400000000",
      number: "0x0",
      gasLimit: "0x1388",
      gasUsed: "0x0",
      timestamp: "0x0",
      extraData: "0x11bbe8db4e347b4e8c937c1c8370e4b5ed33adb3db69cbdb7a38e1e50b1b82fa",
      mixHash: `0x${ZERO}`,
      nonce: "0x0000000000000042",
    },
  ],
  [
    "0x88e96d4537bea4d9c05d12549907b32561d3bf31f45aae734cdc119f13406cb6",
    {
      parentHash: "0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3",
      sha3Uncles: NO_UNCLES,
      miner: "0x05a56e2d52c817161883f50c441c3228cfe54d9f",
      stateRoot: "0xd67e4d450343046425ae4271474353857ab860dbc0a1dde64b41b5cd3a532bf3",
      transactionsRoot: EMPTY_TRIE,
      receiptsRoot: EMPTY_TRIE,
      logsBloom: `0x${"0".repeat(512)}`,
      difficulty: "0x3ff800000",
      number: "0x1",
      gasLimit: "0x1388",
      gasUsed: "0x0",
      timestamp: "0x55ba4224",
      extraData: "0x476574682f76312e302e302f6c696e75782f676f312e342e32",
      mixHash: "0x969b900de27b6ac6a67742365dd65f55a0526c41fd18e1b16f1a1215c2e66f59",
      nonce: "0x539bd4979fef1ec4",
    },
  ],
];

/** Number of header fields in each fork. */
const HARDHAT_FORKS = { berlin: 15, london: 16, shanghai: 17, cancun: 20, prague: 21, osaka: 21, amsterdam: 23 };
const ANVIL_FORKS = { berlin: 15, london: 16, paris: 16, shanghai: 17, cancun: 20, prague: 21, osaka: 21 };

describe("block headers", () => {
  const [[, genesis]] = MAINNET as [(typeof MAINNET)[0]];
  const closing = closedAfterEach();

  describe("hashHeader", () => {
    for (const [hash, header] of MAINNET) {
      it(`computes the hash of the mainnet block ${Number(header["number"])}`, () => {
        const { number, timestamp, stateRoot, parentHash } = header;
        expect(hashHeader(header)).to.deep.equal({
          hash,
          number: Number(number),
          timestamp: Number(timestamp),
          stateRoot,
          parentHash,
        });
      });
    }

    for (const [hardfork, fields] of Object.entries(HARDHAT_FORKS)) {
      it(`computes the hash of a ${hardfork} block from Hardhat`, async () => {
        const connection = closing(await hre.network.create({ network: "default", override: { hardfork } }));
        const call = (method: string, params: unknown[] = []) => connection.provider.request({ method, params });
        await call("hardhat_mine", ["0x2"]);
        expectSameHash(await call("eth_getBlockByNumber", ["latest", false]), fields);
      });
    }

    describeOnAnvil("on Anvil", () => {
      for (const [hardfork, fields] of Object.entries(ANVIL_FORKS)) {
        it(`computes the hash of a ${hardfork} block`, async () => {
          const { url } = closing(await startAnvil("--hardfork", hardfork));
          await rpc(url, "anvil_mine", ["0x2"]);
          expectSameHash(await rpc(url, "eth_getBlockByNumber", ["latest", false]), fields);
        });
      }
    });

    it("computes Keccak-256 of the fields in RLP", () => {
      const bytes = fc.uint8Array({ maxLength: 32 }).map((bytes) => `0x${Buffer.from(bytes).toString("hex")}`);
      fc.assert(
        fc.property(bytes, fc.bigInt(0n, 2n ** 256n - 1n), (extraData, difficulty) => {
          const header = { ...genesis, extraData, difficulty: `0x${difficulty.toString(16)}` };
          const quantities = new Set(["difficulty", "number", "gasLimit", "gasUsed", "timestamp"]);
          const fields = Object.entries(header).map(([name, hex]) => (quantities.has(name) ? trimmed(hex) : hex));
          expect(hashHeader(header).hash).to.equal(keccak256(encodeRlp(fields)));
        }),
      );
    });

    it("accepts hex in any case and fields in any order", () => {
      const upper = Object.entries(genesis).map(
        ([name, hex]) => [name, hex.toUpperCase().replace("0X", "0x")] as const,
      );
      const header = Object.fromEntries([...upper.reverse(), ["gasLimit", "0x0001388"]]);
      expect(hashHeader(header)).to.deep.equal(hashHeader(genesis));
    });

    const rejected: [string, unknown][] = [
      ["a value that is not an object", null],
      ["an array", [genesis]],
      ["a header without fields", {}],
      ["an unknown field", { ...genesis, verkleRoot: `0x${ZERO}` }],
      ["a field with an inherited name", { ...genesis, ["__proto__" as string]: "0x" }],
      ["a later fork's field without the earlier forks' fields", { ...genesis, withdrawalsRoot: EMPTY_TRIE }],
      ["an array as a field", { ...genesis, number: ["0x0"] }],
      ["an object as a field", { ...genesis, stateRoot: { toString: 1, valueOf: 1 } }],
      ["null as a field", { ...genesis, baseFeePerGas: null }],
      ["a number as a quantity", { ...genesis, number: 0 }],
      ["a quantity without digits", { ...genesis, number: "0x" }],
      ["a quantity of more than 256 bits", { ...genesis, difficulty: `0x1${ZERO}` }],
      ["a block number beyond 2^53", { ...genesis, number: "0x20000000000000" }],
      ["a timestamp beyond 2^53", { ...genesis, timestamp: "0x20000000000000" }],
      ["a root of 31 bytes", { ...genesis, stateRoot: EMPTY_TRIE.slice(0, -2) }],
      ["a root of 33 bytes", { ...genesis, stateRoot: `${EMPTY_TRIE}00` }],
      ["an odd number of hex digits", { ...genesis, extraData: "0x1" }],
      ["hex without 0x", { ...genesis, extraData: "11" }],
      ["a line break", { ...genesis, nonce: "0x0000000000000042\n" }],
      ["more than 1024 bytes of extra data", { ...genesis, extraData: `0x${"00".repeat(1025)}` }],
      ...Object.keys(genesis).map((name): [string, unknown] => [`a header without ${name}`, without(genesis, name)]),
    ];
    for (const [what, header] of rejected) {
      it(`throws HEADER_INVALID for ${what}`, () => {
        expect(refusalOf(hashHeader, header)).to.equal("anchor: HEADER_INVALID");
      });
    }

    it("computes a different hash after a change to any field", () => {
      const { hash } = hashHeader(genesis);
      for (const [name, hex] of Object.entries(genesis)) {
        const changed = hex.slice(0, -1) + (hex.endsWith("1") ? "2" : "1");
        expect(hashHeader({ ...genesis, [name]: changed }).hash, name).not.to.equal(hash);
      }
    });
  });

  describe("extractHeader", () => {
    it("returns only the header fields of the block's fork", () => {
      const block = { hash: `0x${ZERO}`, size: "0x1", uncles: [], totalDifficulty: "0x1", baseFeePerGas: null };
      expect(extractHeader({ ...block, ...genesis })).to.deep.equal(genesis);
    });

    it("rejects values that are not a block", () => {
      for (const answer of [undefined, "0x", [genesis], 1])
        expect(refusalOf(extractHeader, answer)).to.equal("anchor: HEADER_INVALID");
    });
  });
});

/** Checks that a block's computed hash equals the hash in the chain's response. */
function expectSameHash(answer: unknown, fields: number): void {
  const { hash, number, timestamp, stateRoot, parentHash } = answer as HeaderJson;
  const header = extractHeader(answer);
  expect(Object.keys(header)).to.have.lengthOf(fields);
  const expected = { hash, number: Number(number), timestamp: Number(timestamp), stateRoot, parentHash };
  expect(hashHeader(header)).to.deep.equal(expected);
  expect(Number(number)).to.equal(2);
}

function without(header: HeaderJson, name: string): HeaderJson {
  return Object.fromEntries(Object.entries(header).filter(([key]) => key !== name));
}

/** Returns the bytes of a number without leading zeros. The number zero has no bytes. */
function trimmed(hex: string): string {
  const digits = BigInt(hex).toString(16);
  return hex === "0x0" ? "0x" : `0x${digits.padStart(digits.length + (digits.length % 2), "0")}`;
}
