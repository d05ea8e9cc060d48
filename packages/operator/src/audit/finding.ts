import type { ErrorCode } from "keyroot/errors";
import type { UserID } from "keyroot/identity";

/** What an audit or a watch can find, by how grave it is. docs/auditing.md explains every code; its meaning never changes. */
export const FINDING_CODES = {
  /** The operator, the file host or the chain has not kept what it promised. */
  damage: [
    // the chain's history
    "LOG_WITHHELD",
    "LOG_EXCESS",
    "LOG_NOT_CANONICAL",
    "BLOCK_NUMBER_MISMATCH",
    "ROOT_REORGANISED",
    // the files
    "FILE_MISSING",
    "FILE_INVALID",
    "FILE_STRAY",
    "KEY_INVALID",
    // both, held against each other
    "USER_HIDDEN",
    "ADDED_COUNT_TOO_LOW",
    "USER_NOT_PUBLISHED",
    "USER_NOT_IN_FILE",
    "ROOT_UNKNOWN",
    "USER_TWO_KEYS",
    // a watched user's
    "WATCHED_KEY_MISMATCH",
    "WATCHED_ROOT_CHANGED",
  ],
  /** Worth knowing, and no fault. */
  notice: ["USER_SHADOWED", "CHAIN_REORGANISED"],
} as const;

export type Severity = keyof typeof FINDING_CODES;
export type FindingCode = (typeof FINDING_CODES)[Severity][number];

/** One thing that an audit found. */
export interface Finding {
  code: FindingCode;
  severity: Severity;
  /** The root that it is about: 64 hex digits in lower case. */
  root?: string;
  userID?: UserID;
  /** What exactly is wrong with a file or a key, as docs/errors.md explains it. */
  detail?: ErrorCode;
  message: string;
}

/** @param about the root, the user, and the detail, as far as there are any */
export function finding(
  code: FindingCode,
  message: string,
  about: Pick<Finding, "root" | "userID" | "detail"> = {},
): Finding {
  const severity = (FINDING_CODES.notice as readonly string[]).includes(code) ? "notice" : "damage";
  return { code, severity, ...about, message };
}

/** What an audit found so far: each finding up to a number, and how many there are in all. */
export class Findings {
  /** An operator who breaks everything shall not fill an auditor's memory. */
  static readonly KEPT = 10_000;

  readonly list: Finding[] = [];
  #damageKept = 0;
  readonly count: Record<Severity, number> = { damage: 0, notice: 0 };

  add(findings: Iterable<Finding>): void {
    for (const one of findings) {
      this.count[one.severity]++;
      if (this.list.length < Findings.KEPT) this.list.push(one);
      // No notice stands in the way of damage.
      else if (one.severity === "damage" && this.#damageKept < Findings.KEPT) this.#replaceNotice(one);
      else continue;
      if (one.severity === "damage") this.#damageKept++;
    }
  }

  /** Puts the findings kept into one order, whatever the order in which files were judged: damage, and oldest roots, first. */
  sort(roots: readonly string[]): void {
    const ages = new Map(roots.map((root, i) => [root, i]));
    const keyOf = ({ severity, root = "", userID = "" }: Finding) =>
      [severity, String(ages.get(root) ?? roots.length).padStart(9, "0"), root, userID].join();
    this.list.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }

  /** How many findings were counted and not kept. */
  get left(): number {
    return this.count.damage + this.count.notice - this.list.length;
  }

  #replaceNotice(damage: Finding): void {
    const i = this.list.findIndex(({ severity }) => severity === "notice");
    if (i !== -1) this.list[i] = damage;
  }
}
