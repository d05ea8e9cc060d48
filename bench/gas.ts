/**
 * What the registry costs in gas. `node bench/gas.ts` prints a table and writes the record beside this file, which a test
 * compares with what it measures itself: a change in price is a change in the record, to be seen in review.
 */
import {
  concat,
  dataLength,
  dataSlice,
  getBytes,
  sha256,
  solidityPackedKeccak256,
  toUtf8Bytes,
  zeroPadBytes,
  type ContractTransactionResponse,
} from "ethers";
import hre from "hardhat";
import { writeFile } from "node:fs/promises";

/** From the published size of a batch up to what a transaction of 2^24 gas (EIP-7825) just about holds. */
const BATCH_SIZES = [1, 25, 100, 700, 740];
const TRANSACTION_GAS_CAP = 2 ** 24;
/** Where the contract keeps its mapping of roots; the test of the storage layout pins it. */
const ROOTS_SLOT = 2;

export interface GasRecord {
  deployment: number;
  addMerkleTreeRoot: GasOfCall[];
}

export interface GasOfCall {
  users: number;
  /** The first call ever also takes the count of users from zero, which costs 17,100 more. */
  call: "first" | "later";
  /** Whether the transaction listed the users' slots in advance (EIP-2930). */
  accessList: boolean;
  gas: number;
  gasPerUser: number;
  /** `gas` over `floor(users)`. */
  ratioToFloor: number;
  /** Whether a transaction may use that much (EIP-7825). */
  fitsTransaction: boolean;
}

/** Measures everything on a chain of its own. The contract must have been compiled. */
export async function measureGas(): Promise<GasRecord> {
  // Without the cap, also what does not fit can be measured.
  const { ethers } = await hre.network.create({ override: { transactionGasCap: false } });
  const [owner] = await ethers.getSigners();
  if (owner === undefined) throw new Error("The chain has no accounts.");

  const deploy = () => ethers.deployContract("PublicKeyRegistry", [owner]);
  const deployed = (await deploy()).deploymentTransaction();

  const addMerkleTreeRoot: GasOfCall[] = [];
  for (const users of BATCH_SIZES) {
    const ids = Array.from({ length: users }, (_, i) => deterministicID(`user ${i}`));
    const packed = concat(ids);
    for (const accessList of [false, true]) {
      for (const call of ["first", "later"] as const) {
        const registry = await deploy();
        if (call === "later") await registry.addMerkleTreeRoot(sha256("0x01"), deterministicID("earlier user"));
        const slots = { address: await registry.getAddress(), storageKeys: ids.map(slotOf) };
        const sent = await registry.addMerkleTreeRoot(sha256("0x02"), packed, {
          accessList: accessList ? [slots] : [],
          gasLimit: 20_000_000,
        });
        const gas = await gasUsed(sent);
        addMerkleTreeRoot.push({
          users,
          call,
          accessList,
          gas,
          gasPerUser: round(gas / users, 1),
          ratioToFloor: round(gas / floor(packed), 5),
          fitsTransaction: gas <= TRANSACTION_GAS_CAP,
        });
      }
    }
  }
  return { deployment: await gasUsed(deployed), addMerkleTreeRoot };
}

async function gasUsed(sent: ContractTransactionResponse | null): Promise<number> {
  const receipt = await sent?.wait();
  if (!receipt) throw new Error("There is no receipt.");
  return Number(receipt.gasUsed);
}

/** What no contract that stores a root for each of these ids goes below: transaction, cold slots from zero, calldata. */
function floor(packedIDs: string): number {
  const calldata = getBytes(packedIDs).reduce((gas, byte) => gas + (byte === 0 ? 4 : 16), 0);
  return 21_000 + 22_100 * (dataLength(packedIDs) / 20) + calldata;
}

function deterministicID(seed: string): string {
  return dataSlice(sha256(toUtf8Bytes(seed)), 0, 20);
}

function slotOf(id: string): string {
  return solidityPackedKeccak256(["bytes32", "uint256"], [zeroPadBytes(id, 32), ROOTS_SLOT]);
}

function round(number: number, digits: number): number {
  return Number(number.toFixed(digits));
}

if (import.meta.main) {
  await hre.tasks.getTask("build").run({ quiet: true });
  const record = await measureGas();
  await writeFile(new URL("gas.json", import.meta.url), `${JSON.stringify(record, null, 2)}\n`);

  /* eslint-disable no-console -- a table for people */
  console.log(`deployment: ${record.deployment} gas`);
  console.table(record.addMerkleTreeRoot);
}
