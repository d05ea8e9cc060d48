import { spawnSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { serverUser } from "../../../support/postgres/binaries.ts";
import { DebianPackages } from "../../../support/processes/debianPackages.ts";

/** The programs of the cluster, which `serverUser` can run. */
export interface Programs {
  patroni: string;
  etcd: string;
  haproxy: string;
  /** The folder of PostgreSQL's programs. Patroni needs `pg_basebackup` and `pg_rewind`, which npm's package lacks. */
  postgres: string;
  /** The environment in which the programs find their libraries. */
  env: Record<string, string>;
}

/** Debian's packages of the programs, with dependencies that a small Debian system may lack. */
const PACKAGES = new DebianPackages("failover", [
  ...["etcd-server", "haproxy", "liblua5.3-0", "libopentracing1", "libopentracing-c-wrapper0", "patroni"],
  ...["python3-cdiff", "python3-click", "python3-colorama", "python3-dateutil", "python3-dnspython", "python3-etcd"],
  ...["python3-pkg-resources", "python3-prettytable", "python3-psutil", "python3-psycopg2", "python3-six"],
  ...["python3-urllib3", "python3-wcwidth", "python3-yaml"],
]);

/** Returns missing programs with the command that installs them. Undefined if none is missing. */
function missingProgram(): string | undefined {
  if (postgresPrograms() === undefined) return "PostgreSQL: apt-get install --no-install-recommends postgresql";
  if (!existsSync("/usr/bin/python3")) return "Python 3: apt-get install --no-install-recommends python3";
  if (installed() === undefined && !isOnPath("apt-get", "--version"))
    return "Patroni, etcd and HAProxy: install Debian's patroni, etcd-server and haproxy";
  return undefined;
}

/** Whether the cluster can start without a download. */
export function isCached(): boolean {
  return missingProgram() === undefined && (installed() !== undefined || PACKAGES.areCached);
}

/**
 * Finds the machine's own programs. If Patroni, etcd or HAProxy is missing, Debian's packages are downloaded to
 * `node_modules/.cache/failover` and unpacked in `folder`. Nothing is installed.
 * @throws Error with the command that installs the missing programs
 */
export function findPrograms(folder: string): Programs {
  const missing = missingProgram();
  const postgres = postgresPrograms();
  if (missing !== undefined || postgres === undefined) throw new Error(`Install ${missing ?? "PostgreSQL"}.`);
  const found = installed();
  if (found !== undefined) return { ...found, postgres, env: {} };
  const root = join(folder, "programs");
  PACKAGES.unpack(root);
  return {
    patroni: join(root, "usr/bin/patroni"),
    etcd: join(root, "usr/bin/etcd"),
    haproxy: join(root, "usr/sbin/haproxy"),
    postgres,
    env: {
      PYTHONPATH: join(root, "usr/lib/python3/dist-packages"),
      LD_LIBRARY_PATH: globSync(join(root, "usr/lib/*-linux-gnu")).join(":"),
    },
  };
}

function installed(): Pick<Programs, "patroni" | "etcd" | "haproxy"> | undefined {
  const all = { patroni: "/usr/bin/patroni", etcd: "/usr/bin/etcd", haproxy: "/usr/sbin/haproxy" };
  return Object.values(all).every((path) => existsSync(path)) ? all : undefined;
}

/** Finds the system's newest PostgreSQL programs that `serverUser` can run. */
function postgresPrograms(): string | undefined {
  const newestFirst = new Intl.Collator("en", { numeric: true });
  return globSync("/usr/lib/postgresql/*/bin")
    .sort((a, b) => newestFirst.compare(b, a))
    .find((bin) => isOnPath(join(bin, "pg_rewind"), "--version") && isOnPath(join(bin, "pg_basebackup"), "--version"));
}

function isOnPath(program: string, ...args: string[]): boolean {
  return spawnSync(program, args, serverUser).status === 0;
}
