import { encodeRlp } from "./rlp.ts";
import { hexToBytes } from "../bytes/hex.ts";
import { describeValue, isObject } from "../input/values.ts";
import { VerificationError } from "../errors.ts";
import { keccak256 } from "./keccak.ts";

/**
 * The fields of a block header in order, each with its JSON-RPC name and its size in bytes. New forks of Ethereum
 * append fields at the end.
 */
const FIELDS = [
  // Fields in every fork: Yellow Paper, section 4.4
  ["parentHash", 32],
  ["sha3Uncles", 32],
  ["miner", 20],
  ["stateRoot", 32],
  ["transactionsRoot", 32],
  ["receiptsRoot", 32],
  ["logsBloom", 256],
  ["difficulty", "quantity"],
  ["number", "quantity"],
  ["gasLimit", "quantity"],
  ["gasUsed", "quantity"],
  ["timestamp", "quantity"],
  ["extraData", "data"],
  ["mixHash", 32],
  ["nonce", 8],
  // Fields since London: EIP-1559
  ["baseFeePerGas", "quantity"],
  // Fields since Shanghai: EIP-4895
  ["withdrawalsRoot", 32],
  // Fields since Cancun: EIP-4844, EIP-4788
  ["blobGasUsed", "quantity"],
  ["excessBlobGas", "quantity"],
  ["parentBeaconBlockRoot", 32],
  // Fields since Prague: EIP-7685
  ["requestsHash", 32],
  // Fields since Amsterdam: EIP-7928, EIP-7843
  ["blockAccessListHash", 32],
  ["slotNumber", "quantity"],
] as const;

/**
 * The fields that a block may have. They are the fields of the header, which the block hash covers, the other fields of
 * a block (execution-apis), and some fields of other networks.
 */
const KNOWN: ReadonlySet<string> = new Set([
  ...FIELDS.map(([name]) => name),
  ...["hash", "size", "totalDifficulty", "transactions", "uncles", "withdrawals"],
  // Geth's and Parity's descendants before the Merge
  ...["author", "sealFields"],
  // Arbitrum, BNB Smart Chain
  ...["l1BlockNumber", "sendCount", "sendRoot", "milliTimestamp"],
]);

/** The number of fields that every header has. */
const REQUIRED_FIELDS = 15;
const MAX_FIELD_BYTES = 1024;

/** All fields of a block header, with the names and values of JSON-RPC. */
export type HeaderJson = Record<string, string>;

/** The block header fields that the library uses, and the hash of the header. */
export interface BlockHeader {
  /** The block hash: 0x and 64 lowercase hex digits. */
  hash: string;
  number: number;
  /** The time of the block, in seconds since 1970. */
  timestamp: number;
  /** The root of Ethereum's state trie after the block: 0x and 64 lowercase hex digits. */
  stateRoot: string;
  /** The hash of the previous block: 0x and 64 lowercase hex digits. */
  parentHash: string;
}

/** Extracts the header fields from a block that an endpoint returned. Their values are not verified. */
export function extractHeader(block: unknown): HeaderJson {
  if (!isObject(block)) throw invalid("a block", block);
  return Object.fromEntries(FIELDS.flatMap(([name]) => (typeof block[name] === "string" ? [[name, block[name]]] : [])));
}

/**
 * Checks that a block has only Ethereum's fields. Call it if the block's hash could not be confirmed, to find the
 * reason: on networks such as Avalanche, the block hash also covers fields that Ethereum does not have.
 * @throws VerificationError HEADER_UNSUPPORTED, step "anchor", if the block has fields that the hash may also cover
 */
export function checkHeaderKind(block: unknown, cause: unknown): void {
  const [field] = isObject(block) ? Object.keys(block).filter((name) => !KNOWN.has(name)) : [];
  if (field === undefined) return;
  const message =
    `The hash of the block cannot be checked, because blocks of this chain have fields that are not Ethereum's, such as ` +
    `${describeValue(field)}. Only oneEndpoint() without options works on such a chain. If the chain has a newer fork of ` +
    "Ethereum, update keyroot.";
  throw new VerificationError("anchor", "HEADER_UNSUPPORTED", message, { actual: describeValue(field), cause });
}

/**
 * Computes the hash of a block, which is the Keccak-256 of its header in RLP (Yellow Paper, section 4.4). The header
 * must have exactly the fields of its fork and of all earlier forks.
 */
export function hashHeader(header: unknown): BlockHeader {
  if (!isObject(header)) throw invalid("fields", header);
  const unknown = new Set(Object.keys(header));
  const count = Math.max(REQUIRED_FIELDS, unknown.size);
  const fields: Uint8Array[] = [];
  for (const [name, size] of FIELDS) {
    const isKnown = unknown.delete(name);
    if (fields.length >= count) continue;
    // RLP has no field names, so without this check, the next field would replace a missing one.
    if (!isKnown) throw invalid(`the field ${name}`, undefined);
    fields.push(encodeField(name, size, header[name]));
  }
  for (const name of unknown) throw invalid("no unknown fields", name);
  return {
    hash: keccak256(encodeRlp(fields)),
    number: toSafeNumber("number", header["number"]),
    timestamp: toSafeNumber("timestamp", header["timestamp"]),
    stateRoot: String(header["stateRoot"]).toLowerCase(),
    parentHash: String(header["parentHash"]).toLowerCase(),
  };
}

/**
 * Checks that a header has the expected hash, and the expected number if there is one.
 * @param subject the start of the error message, such as "The endpoint's header"
 * @param number the expected block number, if it is known
 */
export function checkHeaderHash(subject: string, block: BlockHeader, hash: string, number = block.number): void {
  const expected = { hash, number };
  for (const name of ["hash", "number"] as const) {
    if (block[name] === expected[name]) continue;
    const message = `${subject} has the ${name} ${block[name]}, but the block's ${name} is ${expected[name]}.`;
    throw new VerificationError("anchor", "HEADER_MISMATCH", message, {
      expected: expected[name],
      actual: block[name],
    });
  }
}

function encodeField(name: string, size: number | "quantity" | "data", value: unknown): Uint8Array {
  if (typeof value !== "string" || value.length > 2 + 2 * MAX_FIELD_BYTES || !/^0x[0-9a-f]*$/i.test(value))
    throw invalid(`a valid ${name}`, value);
  const hex = value.slice(2);
  if (size === "quantity") {
    const digits = hex.replace(/^0+/, "");
    if (digits.length > 64 || hex === "") throw invalid(`a valid ${name}`, value);
    return hexToBytes(digits.length % 2 === 0 ? digits : `0${digits}`);
  }
  if (hex.length % 2 !== 0 || (size !== "data" && hex.length !== 2 * size)) throw invalid(`a valid ${name}`, value);
  return hexToBytes(hex);
}

function toSafeNumber(name: string, value: unknown): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw invalid(`a valid ${name}`, value);
  return number;
}

function invalid(expected: string, actual: unknown): VerificationError {
  const message = `The block header must have ${expected}, but has ${describeValue(actual)}.`;
  return new VerificationError("anchor", "HEADER_INVALID", message, { expected, actual: describeValue(actual) });
}
