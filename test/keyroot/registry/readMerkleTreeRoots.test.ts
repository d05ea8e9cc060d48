import { expect } from "chai";
import hre from "hardhat";
import { ArgumentError, TransportError, type UserID, userIDToHex } from "keyroot";
import { randomUserID } from "keyroot/records";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { readMerkleTreeRoots, ROOTS_READER_CODE } from "../../../packages/keyroot/src/registry/readMerkleTreeRoots.ts";
import { type RpcCall, rpcCaller } from "keyroot/internal/transport";
import { runSolc } from "../../../scripts/generate/contractSources.ts";
import { ROOT as PROJECT } from "../../../scripts/test/root.ts";
import { describeOnAnvil, startAnvil } from "../../support/anvil/anvil.ts";
import { freshRegistry } from "../../support/chain/freshRegistry.ts";
import { receiptOf } from "../../support/chain/local.ts";
import { ENDLESS_MS } from "../../support/endless.ts";
import { failure } from "../../support/support.ts";

// The root begins with 0xef. Contract code must not begin with this byte (EIP-3541).
const ROOT = `ef${"01".repeat(31)}`;
const users = Array.from({ length: 1500 }, randomUserID);
const known = users.filter((_, i) => i % 3 === 0);
const expected = users.map((_, i) => (i % 3 === 0 ? ROOT : undefined));

describe("readMerkleTreeRoots", () => {
  const registry = freshRegistry();
  const publish = async (userIDs: readonly UserID[]) => {
    await registry.send(registry.owner, "addMerkleTreeRoot", `0x${ROOT}`, `0x${userIDs.map(userIDToHex).join("")}`);
  };
  const read = (call: RpcCall, userIDs: readonly UserID[]) => readMerkleTreeRoots(call, registry.contract, userIDs);

  it("uses the reader contract that the compiler produces", async () => {
    const reader = "packages/keyroot/src/registry/MerkleTreeRootsReader.sol";
    const source = async (path: string) => ({ content: await readFile(join(PROJECT, path), "utf8") });
    const output = runSolc({
      language: "Solidity",
      sources: {
        "reader.sol": await source(reader),
        "@keyroot/contracts/IPublicKeyRegistry.sol": await source("contracts/IPublicKeyRegistry.sol"),
      },
      settings: {
        ...(hre.config.solidity.profiles["default"]?.compilers[0]?.settings as object),
        outputSelection: { "*": { "*": ["evm.bytecode.object"] } },
      },
    }) as { contracts: { "reader.sol": { MerkleTreeRootsReader: { evm: { bytecode: { object: string } } } } } };
    const { object } = output.contracts["reader.sol"].MerkleTreeRootsReader.evm.bytecode;
    expect(ROOTS_READER_CODE).to.equal(`0x${object}`);
  });

  it("returns the roots in the order of the users", async () => {
    await publish(known);
    let calls = 0;
    const counted: RpcCall = (...args) => (calls++, registry.call(...args));
    expect(await read(counted, users)).to.deep.equal(expected);
    expect(calls).to.equal(3);
    expect(await read(registry.call, [])).to.deep.equal([]);
  });

  it("reads 700 different roots in one call", async () => {
    const rootOf = (i: number) => (i + 1).toString(16).padStart(64, "f");
    const some = users.slice(0, 700);
    for (const [i, userID] of some.entries()) {
      await registry.send(registry.owner, "addMerkleTreeRoot", `0x${rootOf(i)}`, `0x${userIDToHex(userID)}`);
    }
    let calls = 0;
    const counted: RpcCall = (...args) => (calls++, registry.call(...args));
    expect(await read(counted, some)).to.deep.equal(some.map((_, i) => rootOf(i)));
    expect(calls).to.equal(1);
  });

  it("receives 34 bytes for consecutive users with one root", async () => {
    await publish(users.slice(100, 600));
    const sizes: number[] = [];
    const counted: RpcCall = async (method, params) => {
      const answer = await registry.call(method, params);
      const [{ data }] = params as [{ data: string }];
      sizes.push((data.length - ROOTS_READER_CODE.length) / 2, (String(answer).length - 2) / 2);
      return answer;
    };
    const roots = await read(counted, users.slice(0, 700));
    expect(roots).to.deep.equal(users.slice(0, 700).map((_, i) => (i >= 100 && i < 600 ? ROOT : undefined)));
    expect(sizes).to.deep.equal([3 * 32 + Math.ceil((700 * 20) / 32) * 32, 3 * 34]);
  });

  it("ignores bytes after the last complete user id", async () => {
    const [userID = ""] = users;
    await publish([userID]);
    const registryWord = registry.contract.slice(2).padStart(64, "0");
    for (const bytes of [0, 10, 19, 20, 30, 39]) {
      const ids = userIDToHex(userID)
        .repeat(2)
        .slice(0, 2 * bytes)
        .padEnd(128, "0");
      const word = (number: number) => number.toString(16).padStart(64, "0");
      const data = [ROOTS_READER_CODE, registryWord, word(64), word(bytes), ids].join("");
      expect(await registry.call("eth_call", [{ data }, "latest"])).to.equal(bytes < 20 ? "0x" : `0x0001${ROOT}`);
    }
  });

  it("reports the number of roots that it has read", async () => {
    const counts: number[] = [];
    await readMerkleTreeRoots(registry.call, registry.contract, users, { onRead: (count) => counts.push(count) });
    expect(counts.at(-1)).to.equal(users.length);
  });

  it("reads at the given block", async () => {
    const block = (await registry.call("eth_getBlockByNumber", ["latest", false])) as { hash: string };
    await publish(known);
    const then = await readMerkleTreeRoots(registry.call, registry.contract, users.slice(0, 5), {
      block: { blockHash: block.hash },
    });
    expect(then).to.deep.equal(new Array(5).fill(undefined));
  });

  it("splits calls that the node rejects", async () => {
    await publish(known);
    const limited: RpcCall = (method, params) => {
      const [{ data }] = params as [{ data: string }];
      const count = parseInt(data.slice(ROOTS_READER_CODE.length + 128, ROOTS_READER_CODE.length + 192), 16) / 20;
      if (count > 100) return Promise.reject(new TransportError("RPC_ERROR", "out of gas"));
      return registry.call(method, params);
    };
    expect(await read(limited, users)).to.deep.equal(expected);
  });

  it("throws the endpoint's error", async () => {
    const nowhere = `0x${"11".repeat(20)}`;
    const missing = await failure(readMerkleTreeRoots(registry.call, nowhere, users.slice(0, 2)));
    expect(missing).to.include({ code: "RPC_ERROR" });
    const silent: RpcCall = () => Promise.reject(new TransportError("TIMEOUT", "no answer"));
    expect(await failure(read(silent, users))).to.include({ code: "TIMEOUT" });
  });

  it("rejects a result with another number of roots", async () => {
    const answers = [
      undefined,
      "0x",
      `0x0001${ROOT.slice(2)}`,
      `0x0001${"zz".repeat(32)}`,
      `0x0001${ROOT}`,
      `0x0003${ROOT}`,
      `0x0000${ROOT}0002${ROOT}`,
      `0x0002${ROOT}0000${ROOT}`,
      `0x0002${ROOT}00`,
      `0x0001${ROOT}0001${ROOT}0001${ROOT}`,
      `0xffff${ROOT}`,
    ];
    for (const answer of answers) {
      const error = await failure(read(() => Promise.resolve(answer), users.slice(0, 2)));
      expect(error, String(answer)).to.include({ code: "RPC_ANSWER_INVALID" });
    }
  });

  it("rejects malformed user ids", async () => {
    expect(await failure(read(registry.call, ["nobody"]))).to.be.instanceOf(ArgumentError);
  });
});

describeOnAnvil("readMerkleTreeRoots", () => {
  it("returns the same roots as on Hardhat's chain", async () => {
    await using anvil = await startClosable();
    const call = rpcCaller(anvil.url, { maxBytes: 2 ** 20, timeoutMs: ENDLESS_MS });
    const [owner] = (await call("eth_accounts", [])) as string[];
    const { bytecode } = await hre.artifacts.readArtifact("PublicKeyRegistry");
    const send = async (transaction: object): Promise<{ contractAddress: string }> => {
      const hash = await call("eth_sendTransaction", [{ from: owner, gas: "0xe00000", ...transaction }]);
      return receiptOf(call, hash);
    };
    const { contractAddress } = await send({ data: bytecode + String(owner).slice(2).padStart(64, "0") });
    const { interface: abi } = await (await hre.network.create()).ethers.getContractFactory("PublicKeyRegistry");
    const data = abi.encodeFunctionData("addMerkleTreeRoot", [`0x${ROOT}`, `0x${known.map(userIDToHex).join("")}`]);
    await send({ to: contractAddress, data });
    expect(await readMerkleTreeRoots(call, contractAddress, users)).to.deep.equal(expected);
  });
});

async function startClosable(): Promise<{ url: string } & AsyncDisposable> {
  const anvil = await startAnvil();
  return { url: anvil.url, [Symbol.asyncDispose]: () => anvil.close() };
}
