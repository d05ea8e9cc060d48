import { VerificationError, verifying } from "keyroot/errors";
import { isUserID, type UserID } from "keyroot/identity";
import { parseJson } from "keyroot/input";
import { type MerkleFile, serializeMerkleFile } from "keyroot/merkle";
import { MAX_VALUES } from "keyroot/merkle";
import { Shape } from "keyroot/input";

/** What a plan is for: one registry on one chain. */
export interface PlanTarget {
  /** The chain's number (EIP-155). */
  chainId: number;
  /** The hash of the chain's first block, 0x and 64 hex digits: throw-away chains share their number. */
  genesisHash: string;
  /** The registry's address, 0x and 40 hex digits in lower case. */
  contract: string;
  /** The registry's owner, likewise. */
  owner: string;
}

/** What is published at once: a root, its file, and the users of a transaction. */
export interface Batch {
  /** 64 hex digits in lower case. */
  root: string;
  /** The file's size in bytes. */
  fileBytes: number;
  /** How many users it has. */
  users: number;
  /** Whoever the file has a record of, in its order. Ask once for all you need: it may be made anew each time. */
  readonly userIDs: readonly UserID[];
}

/** A batch whose users are kept as bytes: as texts, those of a million would take 60 MB more. */
export function packBatch(root: string, fileBytes: number, userIDs: readonly UserID[]): Batch {
  const users = userIDs.length;
  const packed = Buffer.from(userIDs.join(""), "latin1");
  const userIDAt = (i: number) => packed.toString("latin1", i * USER_ID_LENGTH, (i + 1) * USER_ID_LENGTH);
  return {
    root,
    fileBytes,
    users,
    get userIDs() {
      return Array.from({ length: users }, (_, i) => userIDAt(i));
    },
  };
}

/** The characters of a user id. */
const USER_ID_LENGTH = 32;

/**
 * What is to be published: for users without a root, in the order of their ids, as many as a transaction takes to each
 * root. The same records, chain state and limits make the same plan, byte for byte.
 */
export interface Plan extends PlanTarget {
  /** The most users of one root. */
  usersPerTransaction: number;
  batches: readonly Batch[];
}

/** The format of a plan's text: JSON Lines, the head and then a line for each batch. */
const PLAN_FORMAT = "keyroot-plan/1";

const HEAD = [
  "format",
  "chainId",
  "genesisHash",
  "contract",
  "owner",
  "usersPerTransaction",
  "batches",
  "users",
] as const;
const BATCH = ["root", "fileBytes", "userIDs"] as const;

const HASH = /^[0-9a-f]{64}$/;
const ADDRESS = /^0x[0-9a-f]{40}$/;
const NEWLINE = 0x0a;
const shape = new Shape((...why) => new VerificationError("file", "PLAN_INVALID", ...why));

/** The size of a file in bytes. */
export function sizeOfFile(file: MerkleFile): number {
  let bytes = 0;
  // All of it is ASCII.
  for (const piece of serializeMerkleFile(file)) bytes += piece.length;
  return bytes;
}

/** A plan's text, line by line. */
export function* serializePlan({ batches, usersPerTransaction, ...target }: Plan): Generator<string> {
  const { chainId, genesisHash, contract, owner } = target;
  const users = countUsers(batches);
  const counts = { usersPerTransaction, batches: batches.length, users };
  yield `${JSON.stringify({ format: PLAN_FORMAT, chainId, genesisHash, contract, owner, ...counts })}\n`;
  for (const { root, fileBytes, userIDs } of batches) yield `${JSON.stringify({ root, fileBytes, userIDs })}\n`;
}

/**
 * Reads a plan that nobody vouches for: its form, and that it has all its batches, each user once, in their order. Whether
 * the roots are those of files that hold these users, is for who has the files.
 * @throws VerificationError PLAN_INVALID, and as `parseJson`, step "file"
 */
export function parsePlan(bytes: Uint8Array): Plan {
  const lines = linesOf(bytes);
  const head = shape.object("The plan's head", parseLine(lines.next().value ?? "", 1), HEAD);
  shape.text("The plan's format", head.format, new RegExp(`^${PLAN_FORMAT}$`));
  const usersPerTransaction = shape.count("usersPerTransaction", head.usersPerTransaction);
  const batches: Batch[] = [];
  let last: UserID = "";
  for (const line of lines) {
    const where = `batches[${batches.length}]`;
    const batch = shape.object(where, parseLine(line, 2), BATCH);
    const userIDs = shape.list(
      `${where}.userIDs`,
      batch.userIDs,
      Math.min(usersPerTransaction, MAX_VALUES),
      (at, id) => {
        if (!isUserID(id) || id <= last) throw invalid(`${at} is no user id, or not in order`, id);
        return (last = id);
      },
    );
    if (userIDs.length === 0) throw invalid(`${where} has no users`, 0);
    const root = shape.text(`${where}.root`, batch.root, HASH);
    batches.push(packBatch(root, shape.count(`${where}.fileBytes`, batch.fileBytes), userIDs));
  }
  const counts = { batches: batches.length, users: countUsers(batches) };
  if (head.batches !== counts.batches || head.users !== counts.users) {
    throw invalid("The plan is not whole: its head counts other batches or users than it has", counts);
  }
  return {
    chainId: shape.count("chainId", head.chainId),
    genesisHash: shape.text("genesisHash", head.genesisHash, /^0x[0-9a-f]{64}$/),
    contract: shape.text("contract", head.contract, ADDRESS),
    owner: shape.text("owner", head.owner, ADDRESS),
    usersPerTransaction,
    batches,
  };
}

/** How many users batches have together. */
export function countUsers(batches: Iterable<{ users: number }>): number {
  let sum = 0;
  for (const { users } of batches) sum += users;
  return sum;
}

/** Each line's text; a plan of a million users has 35 MB, which are never one text. */
function* linesOf(bytes: Uint8Array): Generator<string, undefined> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(NEWLINE, start);
    if (end === -1) throw invalid("The plan is not whole: its last line has no end", bytes.length);
    try {
      yield decoder.decode(bytes.subarray(start, end));
    } catch (cause) {
      throw new VerificationError("file", "PLAN_INVALID", "The plan is not UTF-8.", { cause });
    }
    start = end + 1;
  }
}

function parseLine(line: string, maxDepth: number): unknown {
  return verifying("file", "The plan", () => parseJson(line, maxDepth));
}

function invalid(what: string, actual: unknown): VerificationError {
  return new VerificationError("file", "PLAN_INVALID", `${what}.`, { actual });
}
