import { AbiCoder } from "ethers";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { KeyRecord } from "../../src/identity/keyRecord.ts";
import { userIDToHex } from "../../src/identity/userID.ts";
import type { RpcCall } from "../../src/transport/jsonRpc.ts";
import { type PlainFile, plainFile } from "../merkle/plainFile.ts";

/** Where publishers meet: a registry, and the folder of its files. */
export interface Field {
  /** An endpoint that holds the owner's key. */
  call: RpcCall;
  contract: string;
  owner: string;
  merkleDir: string;
}

/** The selectors of `addMerkleTreeRoot` and `getMerkleTreeRoot`. */
const ADD = "0x12e36530";
const GET = "0xee94c797";
/** Enough for some 700 users, and not more than a transaction may have (EIP-7825). */
const GAS = "0x1000000";

/**
 * Somebody else who holds the owner's key and publishes users on its own: a file by the letter of the specification, its
 * root in a transaction, without a look at anybody. It shares no code with the publisher that it races.
 */
export class ForeignPublisher {
  readonly #field: Field;

  constructor(field: Field) {
    this.#field = field;
  }

  /** Stores a file of these records as they stand. @returns its root, without 0x */
  async store(records: readonly KeyRecord[]): Promise<string> {
    const { root, ...file } = plainFile(records.map((record) => JSON.stringify(record)));
    await writeFile(join(this.#field.merkleDir, `${root}.json`), JSON.stringify(file));
    return root;
  }

  /**
   * Sends the transaction that adds a root for these users.
   * @param changes such as the nonce and the fee with which it takes the place of another transaction
   * @returns the transaction's hash
   */
  async add(root: string, records: readonly KeyRecord[], changes: Record<string, string> = {}): Promise<string> {
    const { call, contract, owner } = this.#field;
    const packed = records.map(({ userID }) => userIDToHex(userID)).join("");
    const values = AbiCoder.defaultAbiCoder().encode(["bytes32", "bytes"], [`0x${root}`, `0x${packed}`]);
    const transaction = { from: owner, to: contract, data: ADD + values.slice(2), gas: GAS, ...changes };
    return (await call("eth_sendTransaction", [transaction])) as string;
  }

  /** Stores a file, adds its root, and waits for the block. @returns the root */
  async publish(records: readonly KeyRecord[]): Promise<string> {
    const root = await this.store(records);
    await this.untilIncluded(await this.add(root, records));
    return root;
  }

  /** Waits until a transaction is in a block. */
  async untilIncluded(hash: string): Promise<void> {
    while ((await this.#field.call("eth_getTransactionReceipt", [hash])) === null) await sleep(5);
  }
}

/** How a registry and its files fit together. */
export interface Outcome {
  /** The root that each user has. */
  rootOf: Map<string, string>;
  /** Roots of files that no user of theirs has. */
  shadowed: string[];
}

/**
 * Looks, with no code of the publisher's or the verifier's, whether every user has one root, whose file is there, is the
 * tree of that root, and holds the user's record as it was to be published, once.
 * @param records by whoever was to publish them: of a user who has several, any will do
 * @throws Error that says what is wrong
 */
export async function judgeField(
  { call, contract, merkleDir }: Field,
  records: readonly KeyRecord[],
): Promise<Outcome> {
  const files = new Map<string, Set<string>>();
  for (const name of await readdir(merkleDir)) {
    // A file that was being written has a name of its own, which no host serves.
    if (name.startsWith(".")) continue;
    const file = JSON.parse(await readFile(join(merkleDir, name), "utf8")) as PlainFile;
    const values = new Set(file.values as string[]);
    const { root, ...expected } = plainFile([...values]);
    if (name !== `${root}.json` || !isDeepStrictEqual(file, expected)) {
      throw new Error(`The file ${name} is not the tree of its values.`);
    }
    files.set(root, values);
  }

  const rightRecords = Map.groupBy(records, ({ userID }) => userID);
  const rootOf = new Map<string, string>();
  for (const [userID, right] of rightRecords) {
    const answer = await call("eth_call", [
      { to: contract, data: GET + userIDToHex(userID) + "0".repeat(24) },
      "latest",
    ]);
    const root = String(answer).slice(2);
    if (/^0*$/.test(root)) throw new Error(`The user ${userID} has no root.`);
    const values = files.get(root);
    if (values === undefined) throw new Error(`The root ${root} of ${userID} has no file.`);
    const spelled = right.map(({ userID, pubKey, keyID }) => JSON.stringify({ userID, pubKey, keyID }));
    if (!spelled.some((value) => values.has(value))) throw new Error(`The file ${root} has another key of ${userID}.`);
    rootOf.set(userID, root);
  }
  const used = new Set(rootOf.values());
  return { rootOf, shadowed: [...files.keys()].filter((root) => !used.has(root)) };
}
