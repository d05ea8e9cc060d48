import { type AuditReport, verdictOf } from "../audit/audit.ts";
import type { Finding, Severity } from "../audit/finding.ts";
import { printable } from "keyroot/internal/input";
import type { DatedRootLog } from "../audit/history.ts";
import type { AuditPart } from "../audit/part.ts";
import type { PartResult } from "../audit/partResult.ts";
import { plural } from "../plural.ts";
import { describeSource } from "./describeSource.ts";
import { style } from "./output.ts";

interface Place {
  contract: string;
  chainId: number;
}

/** The maximum number of findings per severity in the text. `--json` prints more. */
const SHOWN = 20;
const CHART_ROWS = 12;
const CHART_COLUMNS = 40;
const BLOCK = "█";

/** The report of an audit, of one part, or of merged parts. */
type Report = AuditReport;

/**
 * Formats an audit report as an object. The report of a part has `partPassed` instead of `passed`, because a part has
 * no verdict on the registry.
 */
export function auditJson(report: Report, place: Place, part?: AuditPart): object {
  const { findings, events, unavailableFiles, evidence, userCount, rootCount, filesRead, usersInFiles } = report;
  const passed = verdictOf(report) === "passed";
  return {
    ...(part === undefined ? { passed } : { part, partPassed: passed }),
    ...place,
    evidence,
    userCount,
    usersInFiles,
    roots: rootCount,
    filesRead,
    filesKnown: report.filesKnown,
    straysSearched: report.straysSearched,
    damage: findings.count.damage,
    notices: findings.count.notice,
    findings: findings.list,
    findingsOmitted: findings.omitted,
    unavailableFiles,
    batches: events.map(({ root, addedCount, blockNumber, timestamp }) => ({
      root,
      addedCount,
      blockNumber,
      timestamp,
    })),
  };
}

/** Formats an audit report as text, with the verdict, the findings by severity, and the figures. */
export function describeAudit(report: Report, { contract, chainId }: Place, part?: AuditPart): string {
  const { events, unavailableFiles, evidence, userCount, rootCount, straysSearched } = report;
  const { number, hash, timestamp } = evidence.block;
  return [
    sentenceOf(report, part),
    ...listOf(report, "damage", style("failure", "Damage")),
    ...listOf(report, "notice", style("notice", "Notices")),
    ...unavailableFiles.map(
      ({ root, code, message }) => `${style("notice", "Unavailable")}  ${root}: ${code}: ${printable(message)}`,
    ),
    ...(straysSearched
      ? []
      : ["Stray files were not searched for. To search for them, set the folder with --files DIR."]),
    "",
    style("heading", `Audit of ${contract} on chain ${chainId}`),
    `  block        ${number}, ${hash}, ${dateOf(timestamp)}`,
    `  evidence     ${describeSource(evidence)}${evidence.storageProof ? ", and a storage proof of the number of users under it" : ""}`,
    part === undefined
      ? `  users        ${userCount} in ${plural(rootCount, "file")}`
      : `  part         ${part.number}/${part.count}: ${plural(rootCount, "file")} with ${plural(report.usersInFiles, "user")}, of ${plural(userCount, "user")} in all`,
    ...(report.filesKnown > 0
      ? [`  not read     ${plural(report.filesKnown, "file")} that an earlier audit found valid`]
      : []),
    ...chart(events),
  ].join("\n");
}

/** Describes the files that one part of a merged audit read, in one line. */
export function describePart({ part, rootCount, filesKnown, usersInFiles, filesFrom, endedAt }: PartResult): string {
  const read = `read ${plural(rootCount - filesKnown, "file")} from ${printable(filesFrom)}`;
  const known = filesKnown === 0 ? "" : `, skipped ${plural(filesKnown, "known file")}`;
  return `  part ${part.number}/${part.count}  ${read}${known}, with ${plural(usersInFiles, "user")}, ended at ${dateOf(endedAt)}`;
}

/** Formats a part of a merged audit as an object. The findings of all parts are in the merged report. */
export function partJson({ part, rootCount, filesKnown, usersInFiles, filesFrom, endedAt }: PartResult): object {
  const filesRead = rootCount - filesKnown;
  return { ...part, roots: rootCount, filesRead, filesKnown, usersInFiles, filesFrom, endedAt };
}

function sentenceOf(report: Report, part?: AuditPart): string {
  switch (verdictOf(report)) {
    case "passed":
      if (part !== undefined) {
        return `Part ${part.number} of ${part.count} has no damage. For a verdict, merge all parts with --merge-parts DIR.`;
      }
      return `${style("success", "Audit passed")}: every event, every file and every user is correct.`;
    case "incomplete":
      return `${style("notice", "No verdict")}: this run could read ${report.filesRead} of ${plural(report.rootCount, "file")}. Run the audit again.`;
    case "damage":
      return `${style("failure", "Audit failed")}: ${plural(report.findings.count.damage, "finding")}. docs/auditing.md explains each code.`;
  }
}

/** Lists the findings of one severity. The first line contains the numbers of findings and affected users. */
function listOf({ findings, events }: Report, severity: Severity, title: string): string[] {
  const count = findings.count[severity];
  if (count === 0) return [];
  const found = findings.list.filter((one) => one.severity === severity);
  const users = usersOf(found, events);
  const atLeast = count > found.length ? "at least " : "";
  const lines = found.slice(0, SHOWN).map(({ code, detail, message }) => {
    return `  ${code}${detail === undefined ? "" : ` (${detail})`}: ${printable(message)}`;
  });
  const more = count > lines.length ? [`  and ${count - lines.length} more. Use --json to list more.`] : [];
  return ["", `${title}: ${plural(count, "finding")} about ${atLeast}${plural(users, "user")}`, ...lines, ...more];
}

/** Counts the users in the findings, and the users of the roots in the findings. */
function usersOf(findings: readonly Finding[], events: readonly DatedRootLog[]): number {
  const roots = new Set(findings.flatMap(({ root, userID }) => (userID === undefined ? [root] : [])));
  const users = new Set(findings.flatMap(({ root, userID }) => (roots.has(root) ? [] : [userID])));
  const ofRoots = events.reduce((sum, { root, addedCount }) => sum + (roots.has(root) ? addedCount : 0), 0);
  return users.size + ofRoots;
}

/** Draws a chart of the users added over time. The chart has equal periods from the first to the last batch. */
function chart(events: readonly DatedRootLog[]): string[] {
  const [first, last] = [events[0], events.at(-1)];
  if (first === undefined || last === undefined) return [];
  const rows = Math.min(CHART_ROWS, events.length);
  const step = Math.max(1, Math.ceil((last.timestamp - first.timestamp + 1) / rows));
  const parts = Array.from({ length: rows }, (_, i) => ({ from: first.timestamp + i * step, users: 0, batches: 0 }));
  for (const { timestamp, addedCount } of events) {
    const part = parts[Math.max(0, Math.floor((timestamp - first.timestamp) / step))];
    if (part === undefined) continue;
    part.users += addedCount;
    part.batches++;
  }
  const most = Math.max(...parts.map(({ users }) => users));
  const used = parts.filter(({ from }) => from <= last.timestamp);
  return [
    "",
    ...used.map(({ from, users, batches }) => {
      const bar = BLOCK.repeat(Math.ceil((users / most) * CHART_COLUMNS)).padEnd(CHART_COLUMNS);
      return `  from ${dateOf(from)}  ${bar}  ${plural(users, "user")} in ${plural(batches, "batch", "batches")}`;
    }),
  ];
}

function dateOf(timestamp: number): string {
  // The endpoint may return a timestamp that is too large for JavaScript's `Date`.
  const date = new Date(timestamp * 1000);
  return Number.isNaN(date.getTime()) ? `second ${timestamp}` : date.toISOString().replace(".000Z", "Z");
}
