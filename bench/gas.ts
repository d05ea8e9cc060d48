/**
 * Measures the registry's gas, and compares it with the minimum of any contract. Gas is the same on every machine.
 * Therefore a test repeats the measurement and compares it with the newest result, so that a review shows every change.
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
import type { PublicKeyRegistry } from "../typechain-types/index.ts";
import { report, SMALL } from "./runner/report.ts";

/** The batch sizes, from one user to about the maximum of one transaction. */
const BATCH_SIZES = SMALL ? [1, 2] : [1, 5, 25, 100, 300, 700, 740];
/** The maximum gas of one transaction (EIP-7825). */
const TRANSACTION_GAS_CAP = 2 ** 24;
/** The storage slot of the contract's mapping of users. `test/contracts/pins.json` contains the storage layout. */
const ROOTS_SLOT = 2;
/**
 * The gas of PubKeyTrust, an older contract on mainnet: for 700 users relative to `floor(700)`, and for a single user.
 */
const PREDECESSOR = { ratioToFloor: 1.015, singleUser: 69_502 };

export interface GasRecord {
  deployment: number;
  addMerkleTreeRoot: GasOfCall[];
}

// oxlint-disable-next-line typescript/consistent-type-definitions -- an interface is no row, which has any names
export type GasOfCall = {
  users: number;
  /**
   * The measured call. The first call to a registry uses 17,100 more gas, because it changes the user count from zero.
   * An access list contains the users' storage slots (EIP-2930).
   */
  call: Call;
  gas: number;
  gasPerUser: number;
  /** The ratio of `gas` to `floor(users)`. */
  ratioToFloor: number;
  /** True if `gas` is at most 2^24, the maximum of a transaction (EIP-7825). */
  fitsTransaction: boolean;
};

type Call = "first" | "first, access list" | "later" | "later, access list";

/** Measures the committed bytecode on a new simulated chain. */
export async function measureGas(): Promise<GasRecord> {
  // Switch off Hardhat's gas cap, so that calls above the cap can also be measured.
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
      for (const order of ["first", "later"] as const) {
        const registry = await deploy();
        if (order === "later") await registry.addMerkleTreeRoot(sha256("0x01"), deterministicID("earlier user"));
        const slots = { address: await registry.getAddress(), storageKeys: ids.map(slotOf) };
        const sent = await registry.addMerkleTreeRoot(sha256("0x02"), packed, {
          accessList: accessList ? [slots] : [],
          gasLimit: 20_000_000,
        });
        const gas = await gasUsed(sent);
        addMerkleTreeRoot.push({
          users,
          call: accessList ? `${order}, access list` : order,
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

/**
 * Returns the minimum gas of any contract that stores a root for each user id. It consists of the gas for the
 * transaction, for new storage slots, and for the ids as calldata.
 */
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
  const { deployment, addMerkleTreeRoot } = await measureGas();
  const largest = SMALL ? 2 : 700;
  const at = (users: number, call: Call) => addMerkleTreeRoot.find((row) => row.users === users && row.call === call);
  const [plain, listed] = [at(largest, "later"), at(largest, "later, access list")];
  report({
    figures: {
      deployment: { what: "gas of the deployment", rows: [{ gas: deployment }] },
      addMerkleTreeRoot: {
        what: "gas of addMerkleTreeRoot; the floor is 21,000 + 22,100 per user + the calldata of the ids",
        rows: addMerkleTreeRoot,
      },
    },
    ratios: [
      {
        what: `gas for ${largest} users, relative to the floor`,
        ...{ value: plain?.ratioToFloor ?? NaN, atMost: 1.011 },
      },
      {
        what: `gas for ${largest} users with an access list, relative to the floor`,
        ...{ value: listed?.ratioToFloor ?? NaN, atMost: 1.007 },
      },
      {
        what: `gas for ${largest} users above the floor, relative to the predecessor's`,
        value: round(((plain?.ratioToFloor ?? NaN) - 1) / (PREDECESSOR.ratioToFloor - 1), 2),
      },
      {
        what: "gas for a single user, relative to the predecessor's",
        value: round((at(1, "later")?.gas ?? NaN) / PREDECESSOR.singleUser, 3),
      },
    ],
  });
}
