/**
 * Measures the time to build the Merkle tree of many users' values and to write its file. For comparison, three other
 * libraries build the same trees. OpenSSL also hashes the same inputs, which is the least work of any library.
 *
 * Each library runs in a separate process, because merkle-tree-gen replaces built-in functions. All libraries that can
 * follow the format's rules must return the same root (bench/tree/contenders.ts).
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { serializeKeyRecord } from "keyroot/internal/identity";
import { sampleRecords } from "../test/support/samples.ts";
import { median, progress, report, round, type Row, SMALL } from "./runner/report.ts";
import type { Contender, Made } from "./tree/contenders.ts";

const SIZES = SMALL ? [1, 50] : [700, 10_000, 100_000, 1_000_000];
/** The number of rounds. Each round runs all processes in turn. One round is enough for the largest trees. */
const roundsOf = (users: number) => (SMALL || users >= 1_000_000 ? 1 : 3);
const CONTENDERS: Record<Contender, string> = {
  keyroot: "Keyroot",
  merkleTreeGen: "merkle-tree-gen",
  merkletreejs: "merkletreejs",
  openZeppelin: "@openzeppelin/merkle-tree",
  openssl: "OpenSSL, hashing alone",
};
const PEERS = ["merkleTreeGen", "merkletreejs", "openZeppelin"] as const;
/** The heap size for the trees of merkle-tree-gen, which take about 2 kB per user. */
const HEAP = "--max-old-space-size=12000";

type Times = Record<Contender, Made[]>;

const dir = mkdtempSync(join(tmpdir(), "keyroot-bench-"));
try {
  const all = new Map<number, Times>();
  for (const users of SIZES) all.set(users, measure(users));
  report({
    figures: {
      tree: {
        what: "ms from the values to the tree with all its hashes: median, in a separate process, warm for small trees",
        rows: rowsOf(all, ({ treeMs }) => treeMs),
      },
      file: {
        what: "ms from the values to the text of the file, for the two that write this format (V8's longest string ends merkle-tree-gen's file before 1,000,000 users)",
        rows: rowsOf(all, ({ fileMs }) => fileMs),
      },
    },
    ratios: SIZES.flatMap((users) => {
      const times = all.get(users);
      if (times === undefined) return [];
      const ofTree = (by: Contender) => median(times[by].map(({ treeMs }) => treeMs));
      const fastest = Math.min(...PEERS.map(ofTree));
      const count = users.toLocaleString("en");
      return [
        {
          what: `the fastest other library's time for the tree of ${count} users, relative to Keyroot's`,
          ...{ value: round(fastest / ofTree("keyroot")), atLeast: users >= 100_000 ? 3 : 1 },
        },
        {
          what: `merkle-tree-gen's time for the tree of ${count} users, relative to Keyroot's`,
          ...{ value: round(ofTree("merkleTreeGen") / ofTree("keyroot")) },
        },
        {
          what: `Keyroot's time for the tree of ${count} users, relative to hashing alone by OpenSSL`,
          value: round(ofTree("keyroot") / ofTree("openssl")),
        },
      ];
    }),
  });
} finally {
  rmSync(dir, { recursive: true });
}

function measure(users: number): Times {
  progress(`${users} users`);
  const path = join(dir, `${users}.txt`);
  writeFileSync(path, sampleRecords(users).map(serializeKeyRecord).sort().join("\n"));
  const times: Times = { keyroot: [], merkleTreeGen: [], merkletreejs: [], openZeppelin: [], openssl: [] };
  for (let i = 0; i < roundsOf(users); i++) {
    for (const by of Object.keys(times) as Contender[]) times[by].push(inNewProcess(by, path));
  }
  const roots = new Set(Object.values(times).flatMap((made) => made.map(({ root }) => root)));
  if (roots.size !== 1) throw new Error(`The roots of ${users} users differ: ${[...roots].join(", ")}.`);
  return times;
}

function inNewProcess(by: Contender, path: string): Made {
  const script = fileURLToPath(new URL("tree/contenders.ts", import.meta.url));
  const args = [HEAP, script, by, path, ...(SMALL ? ["--small"] : [])];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as Made;
}

function rowsOf(all: ReadonlyMap<number, Times>, figure: (made: Made) => number | undefined): Row[] {
  return [...all].flatMap(([users, times]) =>
    (Object.entries(times) as [Contender, Made[]][]).flatMap(([by, made]) => {
      const figures = made.map(figure).filter((ms) => ms !== undefined);
      return figures.length === 0 ? [] : [{ users, by: CONTENDERS[by], ms: round(median(figures)) }];
    }),
  );
}
