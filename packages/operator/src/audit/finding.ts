import type { UserID } from "keyroot/internal/identity";

/** The codes of findings, by severity. The meaning of a code never changes. docs/auditing.md explains every code. */
export const FINDING_CODES = {
  /** False, changed or missing data. */
  damage: [
    // Codes for the chain's history
    "LOG_WITHHELD",
    "LOG_EXCESS",
    "LOG_NOT_CANONICAL",
    "BLOCK_NUMBER_MISMATCH",
    "ROOT_REORGANIZED",
    "CURSOR_ABOVE_HEAD",
    // Codes for files
    "FILE_MISSING",
    "FILE_INVALID",
    "FILE_STRAY",
    "KEY_INVALID",
    // Codes for differences between files and the chain
    "USER_HIDDEN",
    "ADDED_COUNT_TOO_LOW",
    "USER_NOT_PUBLISHED",
    "USER_NOT_IN_FILE",
    "ROOT_UNKNOWN",
    "USER_TWO_KEYS",
    // Codes for accounts
    "SLOT_UNAUTHORIZED",
    "ACCOUNT_FILE_INVALID",
    // Codes for auditors' statements
    "STATEMENT_CONFLICT",
    // Codes for watched users
    "WATCHED_KEY_MISMATCH",
    "WATCHED_ROOT_CHANGED",
    // Codes for files and endpoints that a watch cannot read
    "FILE_UNAVAILABLE",
    "ENDPOINT_UNAVAILABLE",
    "WATCH_ENDED",
  ],
  /** Information about a normal event. No action is needed. */
  notice: ["USER_SUPERSEDED", "FILE_PENDING", "CHAIN_REORGANIZED"],
} as const;

/**
 * The codes of damage to a single root, which an auditor can list in a signed statement. Other codes cannot be listed.
 * They mean that the data of the chain is false or incomplete, so there is nothing to sign, or that a file belongs to
 * no root (FILE_STRAY).
 */
const ROOT_CODES: readonly string[] = [
  ...(["FILE_MISSING", "FILE_INVALID", "KEY_INVALID", "USER_HIDDEN"] satisfies FindingCode[]),
  ...(["USER_NOT_PUBLISHED", "USER_NOT_IN_FILE", "USER_TWO_KEYS"] satisfies FindingCode[]),
  ...(["SLOT_UNAUTHORIZED", "ACCOUNT_FILE_INVALID"] satisfies FindingCode[]),
];

/** The severity of a finding: a key of `FINDING_CODES`. */
export type Severity = keyof typeof FINDING_CODES;
/** The stable code of a finding. docs/auditing.md explains each code. */
export type FindingCode = (typeof FINDING_CODES)[Severity][number];

/** One result of an audit or a watch. */
export interface Finding {
  code: FindingCode;
  severity: Severity;
  /** The root that the finding is about: 64 lowercase hex digits. */
  root?: string | undefined;
  userID?: UserID | undefined;
  /** The error code of a bad file or key, from docs/errors.md. */
  detail?: string | undefined;
  /** Signed texts that contradict each other. */
  evidence?: readonly string[] | undefined;
  message: string;
}

/** Creates a finding, whose severity is determined by its code. */
export function finding(
  code: FindingCode,
  message: string,
  about: Pick<Finding, "root" | "userID" | "detail" | "evidence"> = {},
): Finding {
  const severity = (FINDING_CODES.notice as readonly string[]).includes(code) ? "notice" : "damage";
  return { code, severity, ...about, message };
}

/** The findings of an audit. The list contains only the first 10,000, but the counts include all of them. */
export class Findings {
  /** The maximum number of stored findings. Without a maximum, an operator could fill an auditor's memory. */
  static readonly MAX_KEPT = 10_000;

  readonly list: Finding[] = [];
  #damageKept = 0;
  readonly count: Record<Severity, number> = { damage: 0, notice: 0 };
  /** The codes of each damaged root, for all findings. The keys are roots of 64 lowercase hex digits. */
  readonly damagedRoots = new Map<string, Set<FindingCode>>();
  /** True if there is damage in the chain's data. Stray files do not count. */
  isChainDamaged = false;

  add(findings: Iterable<Finding>): void {
    for (const one of findings) {
      this.count[one.severity]++;
      if (one.severity === "damage") this.#noteDamage(one);
      if (this.list.length < Findings.MAX_KEPT) this.list.push(one);
      // The list is full. Store damage in the place of a notice.
      else if (one.severity === "damage" && this.#damageKept < Findings.MAX_KEPT) this.#replaceNotice(one);
      else continue;
      if (one.severity === "damage") this.#damageKept++;
    }
  }

  /**
   * Sorts the findings by severity, with damage first, and then by the age of their roots. Files are audited in any
   * order, so without sorting, repeated audits would give different reports.
   * @param roots all roots, the oldest first
   */
  sort(roots: readonly string[]): void {
    const ages = new Map(roots.map((root, i) => [root, i]));
    const keyOf = ({ severity, root = "", userID = "" }: Finding) =>
      [severity, String(ages.get(root) ?? roots.length).padStart(9, "0"), root, userID].join();
    this.list.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }

  /** The number of findings that were counted but not stored. */
  get omitted(): number {
    return this.count.damage + this.count.notice - this.list.length;
  }

  #noteDamage({ code, root }: Finding): void {
    if (root === undefined || !ROOT_CODES.includes(code)) this.isChainDamaged ||= code !== "FILE_STRAY";
    else this.damagedRoots.set(root, (this.damagedRoots.get(root) ?? new Set()).add(code));
  }

  #replaceNotice(damage: Finding): void {
    const i = this.list.findIndex(({ severity }) => severity === "notice");
    if (i !== -1) this.list[i] = damage;
  }
}
