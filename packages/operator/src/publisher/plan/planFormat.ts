import { LOWERCASE_ADDRESS, LOWERCASE_HASH } from "keyroot/internal/ethereum";
import { isUserID, type UserID } from "keyroot/internal/identity";
import { checkUntrusted, parseJson, ShapeChecker } from "keyroot/internal/input";
import { MAX_VALUES, MERKLE_ROOT } from "keyroot/internal/merkle";
import { VerificationError } from "../../errors.ts";
import { type Batch, countUsers, packBatch, type Plan } from "./plan.ts";

/** The format name of a serialized plan. A plan is JSON Lines, with a header line and then one line per batch. */
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
  "plannedAt",
] as const;
const BATCH = ["root", "fileBytes", "userIDs"] as const;

const NEWLINE = 0x0a;
const shape = new ShapeChecker((message, details) => new VerificationError("file", "PLAN_INVALID", message, details));

/** Serializes a plan line by line. `parsePlan` reads the result. */
export function* serializePlan({ batches, usersPerTransaction, ...target }: Plan): Generator<string> {
  const { chainId, genesisHash, contract, owner, plannedAt } = target;
  const users = countUsers(batches);
  const counts = { usersPerTransaction, batches: batches.length, users, plannedAt };
  yield `${JSON.stringify({ format: PLAN_FORMAT, chainId, genesisHash, contract, owner, ...counts })}\n`;
  for (const { root, fileBytes, userIDs } of batches) yield `${JSON.stringify({ root, fileBytes, userIDs })}\n`;
}

/**
 * Parses a serialized plan. It must be complete, and its user ids must be unique and sorted. This function does not
 * check whether each root matches the users of its batch, because that requires the files.
 * @param source the bytes of the plan, or its lines without line feeds
 * @throws VerificationError PLAN_INVALID, and the errors of `parseJson` for the step "file"
 */
export function parsePlan(source: Uint8Array | Generator<string, void>): Plan {
  const lines = source instanceof Uint8Array ? linesOf(source) : source;
  const first = shape.dictionary("The plan's head", parseLine(lines.next().value ?? "", 1));
  const head = shape.object("The plan's head", { genesisHash: undefined, plannedAt: undefined, ...first }, HEAD);
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
        if (!isUserID(id) || id <= last) throw invalid(`${at} is not a user id, or is not in order`, id);
        return (last = id);
      },
    );
    if (userIDs.length === 0) throw invalid(`${where} has no users`, 0);
    const root = shape.text(`${where}.root`, batch.root, MERKLE_ROOT);
    batches.push(packBatch(root, shape.count(`${where}.fileBytes`, batch.fileBytes), userIDs));
  }
  const counts = { batches: batches.length, users: countUsers(batches) };
  if (head.batches !== counts.batches || head.users !== counts.users) {
    throw invalid("The plan is incomplete. Its head and its lines have different numbers of batches or users", counts);
  }
  return {
    chainId: shape.count("chainId", head.chainId),
    ...(head.genesisHash !== undefined && {
      genesisHash: shape.text("genesisHash", head.genesisHash, LOWERCASE_HASH),
    }),
    contract: shape.text("contract", head.contract, LOWERCASE_ADDRESS),
    owner: shape.text("owner", head.owner, LOWERCASE_ADDRESS),
    usersPerTransaction,
    ...(head.plannedAt !== undefined && { plannedAt: shape.count("plannedAt", head.plannedAt) }),
    batches,
  };
}

/** Yields the lines of a plan one at a time to save memory, because a plan of a million users takes 35 MB. */
function* linesOf(bytes: Uint8Array): Generator<string, undefined> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(NEWLINE, start);
    if (end === -1) throw invalid("The plan is incomplete. Its last line does not end with a line feed", bytes.length);
    try {
      yield decoder.decode(bytes.subarray(start, end));
    } catch (cause) {
      throw new VerificationError("file", "PLAN_INVALID", "The plan is not UTF-8.", { cause });
    }
    start = end + 1;
  }
}

function parseLine(line: string, maxDepth: number): unknown {
  return checkUntrusted("file", "The plan", () => parseJson(line, maxDepth));
}

function invalid(what: string, actual: unknown): VerificationError {
  return new VerificationError("file", "PLAN_INVALID", `${what}.`, { actual });
}
