import { loadModule } from "../engine/loadModule.ts";
import { openAccounts } from "../account/choice.ts";
import { describeValue } from "../input/values.ts";
import { VerificationError } from "../errors.ts";
import type { KeyType } from "../identity/keyTypes/keyType.ts";
import type { KeyRecord } from "../identity/serializedRecord.ts";
import type { UserID } from "../identity/userID.ts";
import {
  verifyMerkleProof,
  verifyRecordUser,
  type MerkleProof,
  parseMerkleProof,
  type ProvenKey,
} from "../merkle/proof.ts";
import { checkChecksum } from "../ethereum/checksum.ts";
import { type BlockHeader, checkHeaderHash, hashHeader, type HeaderJson } from "../ethereum/header.ts";
import { LOWERCASE_ADDRESS } from "../ethereum/rpcData.ts";
import { LOWERCASE_HASH, toQuantity } from "../ethereum/rpcValues.ts";
import { MAX_PROOF_NODES, verifyStorageProof, type StorageProof } from "../ethereum/storageProof.ts";
import { parseDocument } from "../input/document.ts";
import { ShapeChecker } from "../input/shapeChecker.ts";
import { slotOfUser, usersSlotOf } from "../registry/slots.ts";
import { openTrust, type Trust } from "../trust/trust.ts";
import type { Evidence } from "../evidence.ts";
import {
  type KeyOptions,
  parseKeyQuery,
  parseRegistryReference,
  type RegistryReference,
  type VerifierOptions,
} from "./options.ts";
import type { VerifiedAccount } from "./verifiedKey.ts";
import { verifyRoot } from "./verdict.ts";

/** A complete proof of a user's published key. Readers who trust the hash of its block can verify it offline. */
export interface Bundle extends StorageProof {
  format: typeof FORMAT;
  /** The id of the contract's chain (EIP-155). Only the trusted block hash proves this id. */
  chainId: number;
  /** The address of the contract: 0x and 40 lowercase hex digits. */
  contract: string;
  /** The Keccak-256 of the contract's code: 0x and 64 lowercase hex digits. */
  codeHash: string;
  /** The storage slot of the contract's mapping from users to roots. */
  usersSlot: number;
  /** The proof that the Merkle root includes the user's record. */
  proof: MerkleProof;
  /** The header of a block at which the contract has this root for the user. */
  header: HeaderJson;
  /** The user's account file, and the proof that the slot after its last statement is empty. */
  account?: BundledAccount | undefined;
  /** The file of an auditors' statement about the block (docs/formats.md, "Statement"). */
  statement?: string | undefined;
}

/** The part of a bundle that shows that a key is the newest one of an account. */
interface BundledAccount {
  file: string;
  /** The nodes of the contract's storage trie on the path of the empty slot, from the root down. */
  storageProof: readonly string[];
}

/**
 * The user to verify, with the contract and the trust of the caller. Get the contract and the trust from a source that
 * the bundle's sender does not control, because a forged bundle could name a contract of its own.
 */
export interface BundleQuery
  extends
    Pick<VerifierOptions, "chainId" | "contract" | "codeHash" | "keyType" | "accounts">,
    Pick<KeyOptions, "expectedPublicKey"> {
  userID: UserID;
  /** `pinnedBlock(hash)` for the hash of the bundle's block, or `auditors({ … })` who signed the bundle's statement. */
  trust: Trust;
}

/** A public key that a bundle proves, and the contract in which it is published. */
export interface VerifiedBundle extends ProvenKey {
  contract: string;
  chainId: number;
  codeHash: string;
  /** The evidence for the block. A storage proof confirms the contract's answer at this block. */
  evidence: Evidence;
  /** The user's account, with the `accounts` option. `record` is the record of the key's slot. */
  account?: VerifiedAccount | undefined;
}

const QUERY: (keyof BundleQuery)[] = [
  ...(["userID", "chainId", "contract", "codeHash", "keyType", "accounts", "expectedPublicKey", "trust"] as const),
];
const FORMAT = "keyroot-bundle-v1";
const shape = /* @__PURE__ */ new ShapeChecker(
  (message, details) => new VerificationError("file", "BUNDLE_SHAPE", message, details),
);
/**
 * The limits on the size and depth of a bundle. The size is enough for the deepest tries of today's chains. A bundle
 * has four levels: the bundle itself, `proof`, `siblings`, and a sibling.
 */
const LIMITS = { maxBytes: 2 ** 16, maxDepth: 4 };
const KEYS = [
  ...(["format", "chainId", "contract", "codeHash", "usersSlot", "proof"] as const),
  ...(["header", "accountProof", "storageProof"] as const),
];
const NODE = /^0x(?:[0-9a-f]{2}){1,1024}$/;

/**
 * Parses a bundle with its proof and its record. Only the form of the bundle is checked. To verify it, call
 * `verifyBundle`.
 * @param source the received bytes, or the parsed JSON
 * @param keyType the type of the registry's keys. Default: `curve41417`
 * @throws VerificationError BUNDLE_SHAPE, FILE_TOO_LARGE, FILE_NOT_UTF8, or an error of `parseJson`, step "file"; the
 * errors of `parseMerkleProof`
 * @example
 * const { bundle, record } = parseBundle(await readFile("bundle.json"));
 * console.log(record.userID, bundle.chainId, bundle.contract); // not verified: `verifyBundle` does that
 */
export function parseBundle(source: unknown, keyType?: KeyType): { bundle: Bundle; record: KeyRecord } {
  const document = parseDocument("The bundle", source, LIMITS);
  const optional = shape.fields("The bundle", document, ["account", "statement"]);
  const { account, statement } = optional;
  const present = (["account", "statement"] as const).filter((name) => optional[name] !== undefined);
  const parts = shape.object("The bundle", document, [...KEYS, ...present]);
  shape.oneOf("format", parts.format, [FORMAT]);
  const { proof, record } = parseMerkleProof(parts.proof, keyType);
  const bundle: Bundle = {
    format: FORMAT,
    chainId: shape.count("chainId", parts.chainId),
    contract: shape.text("contract", parts.contract, LOWERCASE_ADDRESS),
    codeHash: shape.text("codeHash", parts.codeHash, LOWERCASE_HASH),
    usersSlot: shape.count("usersSlot", parts.usersSlot),
    proof,
    header: parseHeader(parts.header),
    accountProof: parseNodes("accountProof", parts.accountProof),
    storageProof: parseNodes("storageProof", parts.storageProof),
    ...(account !== undefined && { account: parseAccountPart(account) }),
    ...(statement !== undefined && { statement: shape.text("statement", statement) }),
  };
  return { bundle, record };
}

/**
 * Verifies a bundle offline. The bundle may come from any source, because it is accepted only if it proves two things:
 * - At the trusted block, the trusted contract has a root for this user. A block is trusted if the caller names its
 *   hash, or if auditors whom the caller trusts signed it.
 * - The tree with this root includes a record of this user with the expected key.
 *
 * The result describes the state at the block, which may be old. It remains true, because the contract sets each user's
 * root only once. In a registry with accounts, however, the user may have changed the key since then.
 * @param source the received bytes, or the parsed JSON
 * @throws VerificationError the errors of `parseBundle`; UNANCHORED, HEADER_INVALID, HEADER_MISMATCH, step "anchor";
 * with `auditors`, the errors of `verifyStatement` from `keyroot/auditors`; with accounts, ACCOUNT_MISSING,
 * SUCCESSOR_UNPROVEN; CHAIN_ID_MISMATCH, CONTRACT_MISMATCH, PROOF_INVALID, NO_CONTRACT, CODE_HASH_MISMATCH,
 * NOT_PUBLISHED, step "root"; the errors of `verifyMerkleProof`
 * @throws ArgumentError ARGUMENT_INVALID, BUILTIN_REPLACED. Nothing was verified.
 * @example
 * const bytes = new Uint8Array(await (await fetch("https://files.example/alice.bundle.json")).arrayBuffer());
 * const { publicKey, evidence } = await verifyBundle(bytes, {
 *   userID,
 *   expectedPublicKey,
 *   chainId: 1,
 *   contract: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
 *   trust: pinnedBlock(hash),
 * });
 */
export async function verifyBundle(source: unknown, query: BundleQuery): Promise<VerifiedBundle> {
  const expected = parseRegistryReference(query, QUERY);
  checkChecksum(expected.contract);
  const user = parseKeyQuery(expected, query.userID, query.expectedPublicKey);
  const { chainId, contract, keyType } = expected;
  const trusted = openTrust(query.trust, { chainId, contract, offline: true });
  const verifyAccountFile = query.accounts === undefined ? undefined : openAccounts(query.accounts);
  const { bundle, record } = parseBundle(source, keyType);
  const { codeHash } = bundle;
  const accounts = verifyAccountFile && (await loadModule(() => import("./accountSlot.ts")));
  if (!accounts && bundle.account !== undefined) throw unexpectedAccount();
  const slot = accounts?.findSlot({ verifyAccountFile }, user, accounts.accountFileBytes(accountOf(bundle).file));
  const { userID, expectedPublicKey } = slot?.query ?? user;
  verifyRecordUser(record, userID);
  const header = hashHeader(bundle.header);
  const { hash, number, timestamp, stateRoot } = header;
  const found = trusted.findInBundle?.(bundle);
  if (found === undefined) throw unanchored(header);
  checkHeaderHash("The bundle's header", header, found.hash, found.number);
  verifyRegistry(bundle, expected);
  const read = (id: UserID, { storageProof }: Pick<StorageProof, "storageProof">) =>
    verifyStorageProof(stateRoot, bundle.contract, slotOfUser(id, bundle.usersSlot), { ...bundle, storageProof });
  const proven = read(userID, bundle);
  const details = found.details && { details: found.details };
  const block = { hash, number, timestamp };
  const evidence: Evidence = { source: trusted.name, ...details, block, storageProof: true };
  const nextRoot = slot && { nextRoot: read(slot.query.nextSlotID, accountOf(bundle))?.value ?? "0x" };
  const answers = {
    ...{ chainId: toQuantity(chainId), codeHash: proven?.codeHash, root: proven?.value ?? "0x" },
    ...nextRoot,
  };
  await found.checkRoot?.({ userID, contract }, answers.root, evidence);
  const rootQuery = { userID, chainId, contract: bundle.contract, codeHash };
  const root =
    accounts && slot
      ? accounts.verifySlotRoot({ ...slot, query: { ...slot.query, ...rootQuery } }, { answers, evidence })
      : verifyRoot(rootQuery, answers, evidence);
  const key = verifyMerkleProof(bundle.proof, { userID, root, expectedPublicKey, keyType });
  const account = accounts && slot && { account: accounts.verifyAuthorizedKey(slot, key, evidence) };
  return { ...key, contract: bundle.contract, chainId, codeHash, evidence, ...account };
}

/**
 * Makes the error for a reader without the `accounts` option who receives a bundle with an account. Without this error,
 * the reader would accept the account's first key, although the user may have changed the key since.
 */
function unexpectedAccount(): VerificationError {
  const message =
    "The bundle has an account, so the user may have changed the key. If the registry has accounts, pass the accounts option.";
  return new VerificationError("file", "BUNDLE_SHAPE", message, { expected: "no account" });
}

/** Returns the part about the account, which readers with accounts require. */
function accountOf({ account }: Bundle): BundledAccount {
  if (account !== undefined) return account;
  const message = "The bundle has no account file, without which no key of the user can be verified.";
  throw new VerificationError("file", "ACCOUNT_MISSING", message, { expected: "account" });
}

/** Makes the error for a `trust` value that cannot be used offline, because its source of blocks needs a network. */
function unanchored({ hash, number }: BlockHeader): VerificationError {
  const message = `The bundle is for the untrusted block ${hash} with the number ${number}. Get the block's hash from a trusted source, and pass pinnedBlock(hash) as trust.`;
  return new VerificationError("anchor", "UNANCHORED", message, { actual: hash });
}

/** Checks that the bundle has the caller's chain, contract, slot and code. */
function verifyRegistry(bundle: Bundle, expected: RegistryReference): void {
  const parts = [
    ["CHAIN_ID_MISMATCH", "chain", bundle.chainId, expected.chainId],
    ["CONTRACT_MISMATCH", "contract", bundle.contract, expected.contract.toLowerCase()],
    ["CONTRACT_MISMATCH", "usersSlot", bundle.usersSlot, usersSlotOf(expected)],
    ["CODE_HASH_MISMATCH", "codeHash", bundle.codeHash, expected.codeHash ?? bundle.codeHash],
  ] as const;
  for (const [code, name, actual, expected] of parts) {
    if (actual === expected) continue;
    const message = `The bundle's ${name} is ${actual} instead of ${expected}.`;
    throw new VerificationError("root", code, message, { expected, actual });
  }
}

function parseAccountPart(account: unknown): BundledAccount {
  const { file, storageProof } = shape.object("account", account, ["file", "storageProof"]);
  return {
    file: shape.text("account.file", file),
    storageProof: parseNodes("account.storageProof", storageProof),
  };
}

function parseNodes(name: string, nodes: unknown): string[] {
  return shape.list(name, nodes, MAX_PROOF_NODES, (path, node) => shape.text(path, node, NODE));
}

/** Checks that the header's values are hex. `hashHeader` checks the names and lengths of the fields. */
function parseHeader(header: unknown): HeaderJson {
  const fields = Object.entries(shape.dictionary("header", header));
  const parse = (name: string, value: unknown) => shape.text(`header[${describeValue(name)}]`, value, /^0x[0-9a-f]*$/);
  return Object.fromEntries(fields.map(([name, value]) => [name, parse(name, value)]));
}
