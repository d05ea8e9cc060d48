import type { Row } from "./report.ts";
import type { Result } from "./results.ts";

/** Returns the rows of a figure. */
type Rows = (benchmark: string, figure: string) => readonly Row[];

/** The figures that README.md shows: what the reader gets, and what it is compared with. */
const SHOWN: readonly {
  benchmark: string;
  what: string;
  keyroot: (rows: Rows) => string;
  compared: (rows: Rows) => string;
}[] = [
  ...(["lightClient", "oneEndpoint"] as const).map((choice) => ({
    benchmark: "rounds",
    what: `One more key, \`${choice}\``,
    keyroot: (rows: Rows) => timeAndBytes(rows, choice),
    compared: (rows: Rows) => `${timeAndBytes(rows, UNCHECKED)} unchecked`,
  })),
  {
    benchmark: "gas",
    what: "Gas per key, 700 per transaction",
    keyroot: (rows) => number(gasOf(rows)["gasPerUser"]),
    compared: (rows) =>
      `${number(Number(gasOf(rows)["gasPerUser"]) / Number(gasOf(rows)["ratioToFloor"]))}, the minimum for these storage slots`,
  },
  {
    benchmark: "tree",
    what: "Tree of 100,000 users",
    keyroot: (rows) => `${number(treeMs(rows).keyroot)} ms`,
    compared: (rows) => `${number(treeMs(rows).fastestOther)} ms, fastest other library`,
  },
];

const UNCHECKED = "readContract of viem and a download, unchecked";

/** Returns the rows of the table in README.md, for benchmarks that have a result. */
export function summaryRows(results: readonly Result[]): { "": string; Keyroot: string; "For comparison": string }[] {
  const rows: Rows = (benchmark, figure) => {
    const found = results.find((result) => result.benchmark === benchmark)?.figures[figure]?.rows;
    if (found === undefined) throw new Error(`The results of "${benchmark}" have no figure "${figure}".`);
    return found;
  };
  const shown = SHOWN.filter(({ benchmark }) => results.some((result) => result.benchmark === benchmark));
  return shown.map(({ what, keyroot, compared }) => ({
    "": what,
    Keyroot: keyroot(rows),
    "For comparison": compared(rows),
  }));
}

function timeAndBytes(rows: Rows, by: string): string {
  const { furtherMs, furtherKB } = find(rows("rounds", "keys"), { by });
  return `${number(furtherMs)} ms, ${number(furtherKB)} kB`;
}

function gasOf(rows: Rows): Row {
  return find(rows("gas", "addMerkleTreeRoot"), { users: 700, call: "later" });
}

function treeMs(rows: Rows): { keyroot: number; fastestOther: number } {
  const all = rows("tree", "tree").filter(({ users, by }) => users === 100_000 && !String(by).startsWith("OpenSSL"));
  const others = all.filter(({ by }) => by !== "Keyroot").map(({ ms }) => Number(ms));
  return { keyroot: Number(find(all, { by: "Keyroot" })["ms"]), fastestOther: Math.min(...others) };
}

/** Returns the only row with these values. */
function find(rows: readonly Row[], values: Readonly<Row>): Row {
  const found = rows.find((row) => Object.entries(values).every(([name, value]) => row[name] === value));
  if (found === undefined) throw new Error(`The results have no row with ${JSON.stringify(values)}.`);
  return found;
}

function number(value: unknown): string {
  return Math.round(Number(value)).toLocaleString("en");
}
