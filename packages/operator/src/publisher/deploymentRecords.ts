/**
 * The file that records the deployments on a chain. With these records, a repeated deployment makes no second registry.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ADDRESS, LOWERCASE_HASH } from "keyroot/internal/ethereum";
import type { KeyTypeName } from "keyroot/internal/identity";
import { parseJson, ShapeChecker } from "keyroot/internal/input";
import { ifExists, unreadableInput } from "../disk/fileErrors.ts";
import { writeFileAtomic } from "../disk/writeFileAtomic.ts";
import { ArgumentError } from "../errors.ts";
import { KEY_TYPE_NAMES } from "keyroot/internal/keyTypeNames";
import { chainKeyOf } from "../follow/index.ts";
import type { Chain } from "./chain/chain.ts";
import type { SentCall } from "./transactions/sendCall.ts";

/** A deployment that was sent, or that was about to be sent. */
export interface DeploymentRecord extends SentCall {
  /** The registry's owner: 0x and 40 hex digits. */
  owner: string;
  /**
   * The EVM instruction that deploys the registry. With `create2`, the address of the registry depends only on the
   * bytecode, the owner and the salt.
   */
  by: "create" | "create2";
  /** The registry's address: 0x and 40 hex digits. */
  contract: string;
  /** The account that sends the deployment: 0x and 40 hex digits. */
  from: string;
  /** The type of the registry's keys. Undefined in records of older versions. */
  keyType?: KeyTypeName | undefined;
}

const folderOf = (root: string): string => join(root, ".keyroot", "deployments");

/** Returns the path of a chain's file. @param root the project's folder */
export async function deploymentsPath(root: string, chain: Chain, chainId: number): Promise<string> {
  return join(folderOf(root), `chain-${chainKeyOf(chainId, await chain.genesisHash(chainId))}.json`);
}

/** @throws ArgumentError STATE_INVALID, FILE_UNREADABLE */
export async function readDeployments(path: string): Promise<DeploymentRecord[]> {
  const text = await ifExists(readFile(path, "utf8")).catch((cause: unknown) => {
    throw unreadableInput(path, cause);
  });
  if (text === undefined) return [];
  const shape = new ShapeChecker(
    (message) => new ArgumentError("STATE_INVALID", `${path}: ${message} Delete the file.`),
  );
  return shape.array("The deployments", parseJson(text, 3)).map((item) => {
    const fields = shape.fields("A deployment", item, [
      ...(["owner", "by", "contract", "from", "nonce", "hashes", "keyType"] as const),
    ]);
    // Older versions recorded neither `by` nor `hashes` nor `keyType`.
    const { owner, by = "create", contract, from, nonce, hashes = [], keyType } = fields;
    return {
      owner: shape.text("owner", owner, ADDRESS),
      by: shape.oneOf("by", by, ["create", "create2"]),
      contract: shape.text("contract", contract, ADDRESS),
      from: shape.text("from", from, ADDRESS),
      nonce: shape.count("nonce", nonce),
      hashes: shape.array("hashes", hashes).map((hash) => shape.text("hash", hash, LOWERCASE_HASH)),
      ...(keyType !== undefined && { keyType: shape.oneOf("keyType", keyType, KEY_TYPE_NAMES) }),
    };
  });
}

/**
 * Returns the recorded deployments of a contract. The keys are the paths of the files with the records. There may be
 * several, because contracts on different chains can have the same address.
 * @throws the errors of `readDeployments`
 */
export async function deploymentsOf(root: string, contract: string): Promise<ReadonlyMap<string, DeploymentRecord>> {
  const folder = folderOf(root);
  const names = (await ifExists(readdir(folder))) ?? [];
  const found = new Map<string, DeploymentRecord>();
  for (const path of names.filter((name) => name.endsWith(".json")).map((name) => join(folder, name)))
    for (const record of await readDeployments(path))
      if (record.contract.toLowerCase() === contract.toLowerCase()) found.set(path, record);
  return found;
}

/**
 * Records a deployment. It replaces an earlier record of the same kind for the same owner. It also replaces a record
 * with the same sender and nonce, because the transaction of that record was never sent.
 */
export async function recordDeployment(path: string, record: DeploymentRecord): Promise<void> {
  const { owner, by, from, nonce } = record;
  const isReplaced = (one: DeploymentRecord) =>
    (one.owner === owner && one.by === by) || (one.from === from && one.nonce === nonce);
  const others = (await readDeployments(path)).filter((one) => !isReplaced(one));
  await writeFileAtomic(path, `${JSON.stringify([...others, record])}\n`, 0o600);
}
