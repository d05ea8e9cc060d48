import type { Chart } from "./chart.ts";

/** A benchmark: a script in the folder bench that ends with a call of `report`. */
export interface Benchmark {
  name: string;
  /** The name of the benchmark's script in the folder bench, if it differs from `name`. */
  script?: string;
  /** A description of the benchmark in one line. */
  about: string;
  charts?: readonly Chart[];
  /**
   * The tables that the page shows. For each table, columns can be limited to some values, and rows with other values
   * then appear only in the results file. Default: all tables.
   */
  tables?: Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>>;
}

/** Keyroot among programs that it is compared with. */
const KEYROOT = ["Keyroot"];
/** Keyroot's ways to verify a user. */
const WAYS = ["whole file", "path in a parsed proof", "proof", "bundle"];
const USERS = { column: "users", title: "Users" };

/** All benchmarks, in the order in which they run. A benchmark's script is bench/<name>.ts, unless `script` is set. */
export const BENCHMARKS: readonly Benchmark[] = [
  {
    name: "tree",
    about: "making the tree and the file, beside other Merkle-tree libraries and OpenSSL",
    tables: { tree: { users: [700, 100_000] } },
    charts: [
      {
        ...{ file: "bench-tree", title: "Time to make the Merkle tree", figures: "tree", kind: "lines", x: USERS },
        ...{ y: { column: "ms", title: "ms", logarithmic: true }, series: "by", own: KEYROOT, growth: "time" },
      },
    ],
  },
  {
    name: "verify",
    about: "verifying one user: whole file, proof and bundle, in Node and Chromium, beside the format's first clients",
    tables: {
      cold: {},
      node: { users: [64, 700] },
      chromium: { users: [64, 700] },
      page: {},
      bytes: { users: [64, 700] },
    },
    charts: [
      {
        ...{
          file: "bench-verify-cold",
          title: "Verifying one user of 700 in a new process",
          figures: "cold",
          kind: "bars",
        },
        ...{ x: { column: "what", title: "" }, y: { column: "ms", title: "ms" }, own: WAYS },
      },
      {
        ...{ file: "bench-verify-warm", title: "Verifying one user, warm, in Node", figures: "node", kind: "lines" },
        ...{ x: { column: "users", title: "Users in the file" }, y: { column: "ms", title: "ms", logarithmic: true } },
        ...{ series: "what", own: WAYS },
      },
      {
        ...{ file: "bench-verify-bytes", title: "Bytes to fetch to verify one user", figures: "bytes", kind: "lines" },
        ...{ x: { column: "users", title: "Users in the file" }, series: "what" },
        y: { column: "bytes", title: "bytes", logarithmic: true },
      },
    ],
  },
  {
    name: "rounds",
    about:
      "rounds of requests, bytes and time to verify a key and a contact list, with each choice of trust, beside viem",
  },
  {
    name: "anchors",
    about: "following mainnet's beacon chain as a light client, beside one BLS verification",
    tables: { update: {}, firstKey: {}, lodestar: {}, sizes: {} },
  },
  {
    name: "engines",
    about: "verifying one user of 64 and of 700 in the engines of phones",
  },
  {
    name: "gas",
    about: "the registry's gas, beside the least of any contract and the predecessor",
    tables: { deployment: {}, addMerkleTreeRoot: { users: [1, 25, 700], call: ["later", "later, access list"] } },
    charts: [
      {
        ...{
          file: "bench-gas",
          title: "Gas of a transaction, relative to the least possible",
          figures: "addMerkleTreeRoot",
        },
        ...{ kind: "lines", x: USERS, y: { column: "ratioToFloor", title: "times the floor" }, series: "call" },
      },
    ],
  },
  {
    name: "publish",
    about: "publishing users on a local chain: processor time by stage, and memory",
    tables: { runs: {} },
    charts: [
      {
        ...{ file: "bench-publish", title: "Processor time to publish", figures: "runs", kind: "lines", x: USERS },
        ...{ y: { column: "cpuSeconds", title: "s", logarithmic: true }, growth: "processor time" },
      },
    ],
  },
  {
    name: "audit",
    about: "auditing files and chain, beside hashing and parsing the same bytes",
    tables: { files: { users: [1_000_000] }, chain: {} },
    charts: [
      {
        ...{ file: "bench-audit", title: "Time to audit the files", figures: "files", kind: "lines", x: USERS },
        ...{ y: { column: "seconds", title: "s", logarithmic: true }, series: "by", own: KEYROOT, growth: "time" },
      },
    ],
  },
  {
    ...{ name: "scale", script: "auditScale" },
    about: "the command audit for 1, 5 and 20 million users: whole, incremental, and in parts",
    tables: { runs: {}, sizes: {} },
    charts: [
      {
        ...{ file: "bench-scale-time", title: "Processor time to audit a registry", figures: "runs", kind: "lines" },
        ...{ x: USERS, y: { column: "cpuSeconds", title: "s", logarithmic: true }, series: "run" },
        growth: "processor time",
      },
      {
        ...{ file: "bench-scale-memory", title: "Memory to audit a registry", figures: "runs", kind: "lines" },
        ...{ x: USERS, y: { column: "mebibytes", title: "MiB", logarithmic: true }, series: "run", growth: "memory" },
      },
    ],
  },
  {
    name: "service",
    about: "the partner service under load, beside oidc-provider and pgbench",
    charts: [
      {
        ...{ file: "bench-service", title: "Token exchanges per second", figures: "exchange", kind: "bars" },
        ...{
          x: { column: "clients", title: "Clients" },
          y: { column: "perSecond", title: "per second" },
          series: "by",
          own: KEYROOT,
        },
      },
    ],
  },
  {
    ...{ name: "size", script: "serviceSize" },
    about: "the partner service with 1 and 10 million users, beside few",
    tables: { speed: { users: [10_000_000] }, maintenance: { users: [10_000_000] } },
  },
  {
    ...{ name: "flood", script: "registrationFlood" },
    about: "response times of a partner while another one floods the service with registrations",
  },
  { name: "explorer", about: "the explorer in Chromium: from a file's last byte to the drawn path" },
  {
    name: "install",
    about: "from nothing to the first verified key, and the start of npm start and keyroot --help",
    charts: [
      {
        ...{ file: "bench-install", title: "Time to the first verified key", figures: "firstKey", kind: "bars" },
        ...{ x: { column: "from", title: "" }, y: { column: "seconds", title: "s" } },
      },
    ],
  },
  { name: "memory", about: "memory that hostile answers take, in multiples of the limit", tables: {} },
];
