import type { Statement } from "keyroot/auditors";

/**
 * Returns true if at least one of two statements must be false. A registry's code never changes, and its numbers of
 * users and roots never decrease. Statements for the same block must also agree on everything except the damaged roots,
 * because a host can return a file to one auditor and withhold it from another.
 */
export function contradicts(one: Statement, other: Statement): boolean {
  const [older, newer] = one.block.number <= other.block.number ? [one, other] : [other, one];
  if (older.chainId !== newer.chainId || older.contract !== newer.contract) return true;
  if (older.codeHash !== newer.codeHash) return true;
  const [a, b] = [numbersOf(older), numbersOf(newer)];
  if (older.block.number === newer.block.number)
    return older.block.hash !== newer.block.hash || String(a) !== String(b);
  return a.some((number, i) => number > (b[i] ?? 0));
}

function numbersOf({ block, userCount, rootCount }: Statement): readonly number[] {
  return [block.timestamp, userCount, rootCount];
}
