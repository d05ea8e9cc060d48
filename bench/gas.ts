/**
 * Measures how much gas the registry uses. `node bench/gas.ts` prints a table and writes `gas.json`. A test repeats the
 * measurement and compares, so every change in gas is visible in review.
 */
import { publicKeyRegistryAbi, publicKeyRegistryBytecode } from "@keyroot/contracts";
import {
  concat,
  ContractFactory,
  dataLength,
  dataSlice,
  getBytes,
  sha256,
  solidityPackedKeccak256,
  toUtf8Bytes,
  zeroPadBytes,
  type AddressLike,
  type ContractTransactionResponse,
} from "ethers";
import hre from "hardhat";
import { writeFile } from "node:fs/promises";
import type { PublicKeyRegistry } from "../typechain-types/index.ts";

/** From a single user to about the most that fit in one transaction. */
const BATCH_SIZES = [1, 25, 100, 700, 740];
/** The most gas that one transaction may use (EIP-7825). */
const TRANSACTION_GAS_CAP = 2 ** 24;
/** Slot of the contract's mapping of users; `test/contracts/pins.json` contains the storage layout. */
const ROOTS_SLOT = 2;

export interface GasRecord {
  deployment: number;
  addMerkleTreeRoot: GasOfCall[];
}

export interface GasOfCall {
  users: number;
  /** A registry's first call also sets the user count from zero, which uses 17,100 more gas. */
  call: "first" | "later";
  /** Whether the transaction has an access list with the users' slots (EIP-2930). */
  accessList: boolean;
  gas: number;
  gasPerUser: number;
  /** `gas` over `floor(users)`. */
  ratioToFloor: number;
  /** Whether `gas` is at most 2^24, the most that a transaction may use (EIP-7825). */
  fitsTransaction: boolean;
}

/** Measures the committed bytecode on a new simulated chain. */
export async function measureGas(): Promise<GasRecord> {
  // Without the cap, so that calls above it can be measured, too.
  const { ethers } = await hre.network.create({ override: { transactionGasCap: false } });
  const [owner] = await ethers.getSigners();
  if (owner === undefined) throw new Error("The simulated chain has no accounts.");

  const factory = new ContractFactory<[initialOwner: AddressLike], PublicKeyRegistry>(
    publicKeyRegistryAbi,
    publicKeyRegistryBytecode,
    owner,
  );
  const deploy = () => factory.deploy(owner);
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
  if (!receipt) throw new Error("The transaction has no receipt.");
  return Number(receipt.gasUsed);
}

/** The least gas of any contract that stores a root for each id: transaction, cold slots set from zero, calldata of the ids. */
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
  const record = await measureGas();
  await writeFile(new URL("gas.json", import.meta.url), `${JSON.stringify(record, null, 2)}\n`);

  /* eslint-disable no-console -- this script prints a table */
  console.log(`deployment: ${record.deployment} gas`);
  console.table(record.addMerkleTreeRoot);
}
