import { expect } from "chai";
import { AbiCoder, Interface } from "ethers";
import { runSolc } from "../../scripts/generate/contractSources.ts";
import { PublicKeyRegistry__factory } from "../../typechain-types/index.ts";
import { parseSafeQuantity } from "../../packages/keyroot/src/ethereum/rpcValues.ts";
import { userIDToHex } from "../../packages/keyroot/src/identity/userID.ts";
import { type RpcCall, rpcCaller } from "../../packages/keyroot/src/transport/jsonRpc.ts";
import { startAmsterdam } from "../support/amsterdam/amsterdam.ts";
import { startHardhat, type StartChain } from "../support/chain/freshRegistry.ts";
import { sampleUserID } from "../support/samples.ts";
import { testAll } from "../support/testSize.ts";
import { ENDLESS_MS } from "../support/endless.ts";

const USERS = 350;
const ROOT = `0x${"ab".repeat(32)}`;
const ids = Array.from({ length: USERS }, (_, i) => userIDToHex(sampleUserID(i, 1)));
const abi = new Interface([
  "function addMerkleTreeRoot(bytes32 root, bytes ids)",
  "function getMerkleTreeRoot(bytes20 id) view returns (bytes32)",
]);

/**
 * A registry that stores two users in one slot: 104 bits of each id, and the number of its batch in 24 bits. A user's
 * slot is the first one with room, starting from the bucket of the id. The number of buckets is fixed.
 */
const TWO_PER_SLOT = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

contract TwoPerSlot {
    address private immutable _owner;
    uint256 private immutable _buckets;
    mapping(uint256 bucket => uint256 twoUsers) private _users;
    mapping(uint256 batch => bytes32 root) private _roots;
    mapping(bytes32 root => uint256 blockNumber) private _blockNumbers;
    uint128 private _userCount;
    uint128 private _batchCount;

    event MerkleTreeRootAdded(bytes32 indexed merkleTreeRoot, uint256 addedCount);

    constructor(address owner, uint256 buckets) {
        _owner = owner;
        _buckets = buckets;
    }

    function addMerkleTreeRoot(bytes32 root, bytes calldata ids) external {
        require(msg.sender == _owner && root != 0 && ids.length % 20 == 0);
        uint256 batch = _batchCount + 1;
        uint256 added;
        for (uint256 i = 0; i < ids.length; i += 20) {
            uint256 id = uint160(bytes20(ids[i:i + 20]));
            uint256 tag = id >> 56;
            uint256 bucket = id % _buckets;
            while (true) {
                uint256 two = _users[bucket];
                uint256 first = two & type(uint128).max;
                uint256 second = two >> 128;
                if (first >> 24 == tag || second >> 24 == tag) break;
                if (second != 0) {
                    bucket = (bucket + 1) % _buckets;
                    continue;
                }
                uint256 entry = (tag << 24) | batch;
                _users[bucket] = first == 0 ? entry : two | (entry << 128);
                ++added;
                break;
            }
        }
        if (added == 0) return;
        _roots[batch] = root;
        _batchCount = uint128(batch);
        if (_blockNumbers[root] == 0) _blockNumbers[root] = block.number;
        _userCount += uint128(added);
        emit MerkleTreeRootAdded(root, added);
    }

    function getMerkleTreeRoot(bytes20 userID) external view returns (bytes32) {
        uint256 id = uint160(userID);
        for (uint256 bucket = id % _buckets; ; bucket = (bucket + 1) % _buckets) {
            uint256 two = _users[bucket];
            if ((two & type(uint128).max) >> 24 == id >> 56) return _roots[two & type(uint24).max];
            if (two >> 152 == id >> 56) return _roots[(two >> 128) & type(uint24).max];
            if (two >> 128 == 0) return 0;
        }
    }
}
`;

/** The alternative's code without its arguments, optimized as the registry. */
function compileAlternative(): string {
  const settings = {
    ...{ evmVersion: "shanghai", viaIR: true, optimizer: { enabled: true, runs: 10_000 } },
    outputSelection: { "*": { "*": ["evm.bytecode.object"] } },
  };
  const output = runSolc({ language: "Solidity", sources: { "a.sol": { content: TWO_PER_SLOT } }, settings }) as {
    contracts: { "a.sol": { TwoPerSlot: { evm: { bytecode: { object: string } } } } };
  };
  return `0x${output.contracts["a.sol"].TwoPerSlot.evm.bytecode.object}`;
}

let compiled: string | undefined;

/** The code that deploys the alternative. @param buckets the number of slots for users */
function twoPerSlot(owner: string, buckets: number): string {
  compiled ??= compileAlternative();
  return compiled + AbiCoder.defaultAbiCoder().encode(["address", "uint256"], [owner, buckets]).slice(2);
}

/** The code that deploys the registry. */
async function registryCode(owner: string): Promise<string> {
  return (await new PublicKeyRegistry__factory().getDeployTransaction(owner)).data;
}

/** Gas per user of a new registry's second batch. @param gasLimit of transactions */
async function measure(call: RpcCall, codeFor: (owner: string) => Promise<string> | string, gasLimit: number) {
  const [from = ""] = (await call("eth_accounts", [])) as string[];
  const send = async (transaction: object) => {
    const gas = `0x${gasLimit.toString(16)}`;
    const hash = await call("eth_sendTransaction", [{ from, gas, ...transaction }]);
    return (await call("eth_getTransactionReceipt", [hash])) as Record<string, string>;
  };
  const { contractAddress: to = "" } = await send({ data: await codeFor(from) });
  const add = (some: readonly string[], root: string) =>
    send({ to, data: abi.encodeFunctionData("addMerkleTreeRoot", [root, `0x${some.join("")}`]) });
  // The first batch of a registry sets its counters.
  await add([userIDToHex(sampleUserID(USERS + 1, 1))], `0x${"cd".repeat(32)}`);
  const receipt = await add(ids, ROOT);
  for (const id of [ids[0], ids[USERS - 1]]) {
    const data = abi.encodeFunctionData("getMerkleTreeRoot", [`0x${id}`]);
    expect(await call("eth_call", [{ to, data }, "latest"])).to.equal(ROOT);
  }
  return parseSafeQuantity(receipt["gasUsed"]) / USERS;
}

/** Gas per user of the registry, and of the alternative when its table is 90 %, 50 % and 2.5 % full. */
interface Measured {
  registry: number;
  full: number;
  half: number;
  empty: number;
}

function describeAlternative(rules: string, startChain: StartChain, gasLimit: number, expected: Measured): void {
  describe(`two users per slot, under ${rules}`, () => {
    it("cost less gas than the registry if the table is nearly full, and the same if it is nearly empty", async () => {
      const chain = await startChain();
      try {
        const call = rpcCaller(chain.url, { maxBytes: 2 ** 20, timeoutMs: ENDLESS_MS });
        const filled = (part: number) =>
          measure(call, (owner) => twoPerSlot(owner, Math.ceil(USERS / 2 / part)), gasLimit);
        const found: Measured = {
          registry: await measure(call, registryCode, gasLimit),
          full: await filled(0.9),
          half: await filled(0.5),
          empty: await filled(0.025),
        };
        for (const name of Object.keys(expected) as (keyof Measured)[])
          expect(found[name] / expected[name], name).to.be.within(0.99, 1.01);
      } finally {
        await chain.close();
      }
    });
  });
}

const PRESENT = { registry: 22_740, full: 13_360, half: 16_310, empty: 22_680 };
const AMSTERDAM = { registry: 103_790, full: 56_310, half: 71_970, empty: 102_110 };

describeAlternative("the present rules", startHardhat, 16_000_000, PRESENT);
if (testAll) describeAlternative("Amsterdam's rules", () => startAmsterdam(60_000_000), 50_000_000, AMSTERDAM);
