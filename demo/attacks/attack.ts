import type { UpdateParts } from "@keyroot/operator/testing";
import type { ErrorCode } from "keyroot/internal/errors";
import type { BlockHeader } from "keyroot/internal/ethereum";
import type { KeyRecord, KeyType, UserID } from "keyroot/internal/identity";
import type { Update } from "keyroot/internal/lightClient";
import type { MerkleFile } from "keyroot/internal/merkle";
import type { AccountVictims } from "../accountVictims.ts";

/** The user under attack, and data that attacks use. */
export interface AttackContext {
  /** The type of the registry's keys. */
  keyType: KeyType;
  victim: KeyRecord;
  /** The attacker's own public key in base64. */
  attackersKey: string;
  /** The root of a batch that does not contain the victim. */
  otherRoot: string;
  /** A block from before the victim's key was published. */
  olderBlock: BlockHeader;
  accounts: AccountVictims;
}

/** A user and the key that the server sends for it. */
export interface Target {
  userID: UserID;
  /** The key in base64. */
  sentKey: string;
  /** The registry, if it is the one in which user ids are accounts. */
  contract?: string;
}

/** Who attacks. The attacks are listed under these headings, in this order. */
export const ATTACKERS = [
  "The server",
  "The file host",
  "The endpoint",
  "Several servers together",
  "The beacon endpoint",
  "A thief with one of two recovery keys",
  "The operator",
  "Another partner",
] as const;
type Attacker = (typeof ATTACKERS)[number];

/** One attempt to make a contact's app accept a false or outdated key. */
export interface Attack {
  name: string;
  attacker: Attacker;
  /** A one-line description of the attack. */
  description: string;
  /** The error code with which a verifier that trusts the light client rejects the attack. */
  expectedCode: ErrorCode;
  /** True if a verifier that trusts one endpoint accepts the key. */
  foolsOneEndpoint?: boolean;
  /** Returns the user and the key that the server sends. Default: the victim with its own key. */
  target?: (context: AttackContext) => Target;
  /**
   * Changes a Merkle-tree file in transit. Returns an object to send as JSON, a text to send, or a URL to redirect to.
   */
  file?: (file: MerkleFile, context: AttackContext) => object | string | URL;
  /** Returns the file that the file host sends for every root. */
  inventedFile?: (context: AttackContext) => MerkleFile;
  /** Returns the account file that the file host sends. If undefined, it has none. */
  accountFile?: (accounts: AccountVictims) => string | undefined;
  /** Changes a JSON-RPC call before the chain answers it. */
  call?: (call: Call, context: AttackContext) => Call;
  /** Changes the result of a JSON-RPC call in transit. */
  rpc?: (call: Call, result: unknown, context: AttackContext) => unknown;
  /** Returns a forged version of the newest finality update. @param parts the parts of the genuine update */
  update?: (parts: UpdateParts, context: AttackContext) => Update;
  /** True if the list of the light client's updates is endless. */
  endless?: boolean;
}

export interface Call {
  method: string;
  params: unknown[];
}

/** Returns the user of an attack and the key that the server sends. */
export function targetOf({ target }: Attack, context: AttackContext): Target {
  const { userID, pubKey } = context.victim;
  return target?.(context) ?? { userID, sentKey: pubKey };
}

/** Replaces the root in every storage proof. @param asked calldata of a call whose result is also replaced */
export function replaceRoot({ method, params }: Call, result: unknown, root: string, asked?: string): unknown {
  if (method === "eth_call" && asked !== undefined && JSON.stringify(params).includes(asked)) return `0x${root}`;
  if (method !== "eth_getProof") return result;
  const { storageProof, ...account } = result as { storageProof: { proof: string[] }[] };
  const forged = storageProof.map(({ proof, ...slot }) => ({
    ...{ ...slot, value: `0x${root}` },
    proof: [...proof.slice(0, -1), (proof.at(-1) ?? "").slice(0, -64) + root],
  }));
  return { ...account, storageProof: forged };
}
