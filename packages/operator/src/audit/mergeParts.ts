import { isDeepStrictEqual } from "node:util";
import { ArgumentError } from "../errors.ts";
import { plural } from "../plural.ts";
import type { AuditReport } from "./audit.ts";
import { auditUserCount, rootsOf } from "./auditChain.ts";
import type { AuditState } from "./auditState.ts";
import { USER_BYTES } from "./auditFile.ts";
import { auditUsers } from "./auditUsers.ts";
import { type Finding, Findings, type Severity } from "./finding.ts";
import { isInPart } from "./part.ts";
import type { PartResult } from "./partResult.ts";

/** The report of an audit that several machines shared. */
export interface MergedReport extends Omit<AuditReport, "roots"> {
  /** The results of the parts, sorted by part number. */
  parts: readonly PartResult[];
}

interface Part {
  state: AuditState;
  result: PartResult;
}

/**
 * Merges the parts of a shared audit. The function checks that the parts cover every root once, and compares the users
 * of all files with each other. The function uses no endpoint and no file host. The function does not repeat the checks
 * of the parts, so use only states from your own machines.
 * @param states the states of all parts, in any order
 * @throws ArgumentError PARTS_INVALID if a part is missing, unfinished or given twice, or if blocks, contracts or
 * chains differ; STATE_INVALID
 */
export function mergeParts(states: readonly AuditState[]): MergedReport {
  const parts = states.map((state) => ({ state, result: resultOf(state) }));
  parts.sort((a, b) => a.result.part.number - b.result.part.number);
  const [first] = parts;
  if (first === undefined) throw invalid("There are no parts to merge.");
  checkNumbers(parts, first.result.part.count);
  for (const part of parts) checkEqual(first, part);
  const { events } = first.state;
  for (const { state, result } of parts.slice(1)) {
    if (isDeepStrictEqual(state.events, events)) continue;
    throw invalid(
      `${nameOf(result)} has different events from part 1 at the same block. One of their endpoints returned false events.`,
    );
  }

  const roots = rootsOf(events).map(({ root }) => root);
  for (const part of parts) checkFiles(part, roots);
  const findings = new Findings();
  findings.add(auditUserCount(events, first.result.userCount));
  addFindings(findings, parts);
  const usersInFiles = sumOf(parts, ({ usersInFiles }) => usersInFiles);
  findings.add(
    auditUsers({
      roots,
      count: usersInFiles,
      usersOf: (root) => parts.find(({ result }) => isInPart(root, result.part))?.state.file(root)?.users,
      *others() {
        for (const { state } of parts) yield* state.others();
      },
    }),
  );
  findings.sort(roots);
  const { userCount, deploymentBlock, codeHash, evidence } = first.result;
  return {
    ...{ userCount, deploymentBlock, codeHash, evidence },
    events,
    rootCount: roots.length,
    filesRead: roots.length,
    filesKnown: sumOf(parts, ({ filesKnown }) => filesKnown),
    usersInFiles,
    findings,
    unavailableFiles: [],
    straysSearched: parts.every(({ result }) => result.straysSearched),
    parts: parts.map(({ result }) => result),
  };
}

function resultOf(state: AuditState): PartResult {
  const result = state.partResult;
  if (result === undefined) {
    const at = state.cursor === undefined ? "" : ` at block ${state.cursor.number}`;
    const message = `The audit state${at} does not contain a part's result. The last run with this state had no --part, did not read all files, received false events or did not finish. Run the part again.`;
    throw invalid(message);
  }
  const { number, hash } = result.evidence.block;
  if (state.cursor?.number === number && state.cursor.hash === hash) return result;
  throw invalid(
    `${nameOf(result)} has events up to a different block than its result. Run the part again with --fresh.`,
  );
}

/** Checks that each number from 1 to `count` has exactly one part. @param parts sorted by number */
function checkNumbers(parts: readonly Part[], count: number): void {
  const numbers = parts.map(({ result }) => result.part.number);
  const other = parts.find(({ result }) => result.part.count !== count);
  if (other !== undefined)
    throw invalid(
      `${nameOf(other.result)} does not belong to an audit of ${plural(count, "part")}. Remove it from the folder.`,
    );
  const twice = numbers.find((number, i) => number === numbers[i + 1]);
  if (twice !== undefined)
    throw invalid(`Two states contain part ${twice}/${count}. Remove one of them from the folder.`);
  const missing = Array.from({ length: count }, (_, i) => i + 1).filter((number) => !numbers.includes(number));
  if (missing.length > 0)
    throw invalid(
      `The audit has ${plural(count, "part")}. The states of these parts are missing: ${missing.join(", ")}. Add them to the folder.`,
    );
}

/** Checks that a part has the same contract, chain, block and evidence as the first part. */
function checkEqual(first: Part, part: Part): void {
  const about = ({ state, result }: Part) => {
    const { userCount, deploymentBlock, codeHash, evidence } = result;
    const { contract, chainId, genesisHash, keyType } = state.target;
    return { ...{ contract, chainId, genesisHash, keyType, userCount, deploymentBlock, codeHash }, ...evidence };
  };
  const [expected, actual] = [about(first), about(part)];
  for (const name of Object.keys(expected) as (keyof typeof expected)[]) {
    if (isDeepStrictEqual(expected[name], actual[name])) continue;
    const texts = [actual, expected].map((one) => JSON.stringify(one[name]));
    throw invalid(
      `${nameOf(part.result)} has the ${name} ${texts[0]}, but part 1 has ${texts[1]}. Run all parts at one block, with the same options.`,
    );
  }
}

/** Checks that a part audited the files of all roots in the part. */
function checkFiles({ state, result }: Part, allRoots: readonly string[]): void {
  const roots = allRoots.filter((root) => isInPart(root, result.part));
  if (roots.length !== result.rootCount) {
    throw invalid(
      `${nameOf(result)} counts ${plural(result.rootCount, "root")}, but ${roots.length} belong to it. Run the part again.`,
    );
  }
  // A part with damage may have no valid file for some roots.
  if (result.count.damage > 0) return;
  let users = 0;
  for (const root of roots) {
    const file = state.file(root);
    if (file === undefined)
      throw invalid(`${nameOf(result)} does not contain the users of the root ${root}. Run the part again.`);
    users += file.users.length / USER_BYTES;
  }
  if (users === result.usersInFiles) return;
  throw invalid(
    `${nameOf(result)} counts ${plural(result.usersInFiles, "user")} in its files, but its state has ${users}. Run the part again.`,
  );
}

/** Adds the findings of all parts. Findings about the chain are in every part, and are added only once. */
function addFindings(findings: Findings, parts: readonly Part[]): void {
  const seen = new Set<string>();
  for (const { result } of parts) {
    const isNew = (one: Finding) => seen.size < seen.add(JSON.stringify(one)).size;
    findings.add(result.findings.filter(isNew));
    for (const severity of ["damage", "notice"] as const satisfies Severity[]) {
      const kept = result.findings.filter((one) => one.severity === severity).length;
      findings.count[severity] += result.count[severity] - kept;
    }
  }
}

function sumOf(parts: readonly Part[], count: (result: PartResult) => number): number {
  return parts.reduce((sum, { result }) => sum + count(result), 0);
}

function nameOf({ part }: PartResult): string {
  return `Part ${part.number}/${part.count}`;
}

function invalid(message: string): ArgumentError {
  return new ArgumentError("PARTS_INVALID", message);
}
