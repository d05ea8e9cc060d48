import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { chownToServerUser, serverUser } from "../../../support/postgres/binaries.ts";
import { endReaper, runAt, spawnReaper } from "../../../support/postgres/postgres.ts";
import { childrenOf, runningOf } from "../../../support/postgres/processes.ts";
import { freePort } from "../../../support/servers/ports.ts";
import {
  type ClusterSettings,
  etcdEnvironment,
  haproxyCfg,
  type NodeSettings,
  patroniYml,
  type Replica,
  UNAVAILABLE_HTTP,
} from "./configuration.ts";
import { findPrograms, type Programs } from "./programs.ts";
import { ENDLESS_MS } from "../../../support/endless.ts";

const NODES = 3;
const HOST = "127.0.0.1";

/** A member of the cluster, as Patroni lists it. */
interface Member {
  name: string;
  role: string;
  state: string;
  timeline?: number;
}

/** Three nodes with Patroni and PostgreSQL, etcd, and HAProxy. All are processes on this machine. */
export class Cluster implements AsyncDisposable {
  /** The folder of logs, data and configuration. */
  readonly folder: string;
  readonly settings: ClusterSettings;
  readonly nodes: readonly NodeSettings[];
  readonly #programs: Programs;
  readonly #running = new Map<string, ChildProcess>();
  readonly #ports: { etcd: number; peer: number; database: number; api: number };
  /** Processes that end PostgreSQL, which is not a child of Patroni and would keep running. */
  readonly #reapers: ChildProcess[] = [];
  #replicas: readonly Replica[] = [];

  private constructor(folder: string, programs: Programs, ports: readonly number[]) {
    this.folder = folder;
    this.#programs = programs;
    const [etcd = 0, peer = 0, database = 0, api = 0, ...rest] = ports;
    this.#ports = { etcd, peer, database, api };
    this.nodes = Array.from({ length: NODES }, (_, i) => ({
      name: `node${i + 1}`,
      host: HOST,
      postgresPort: rest[2 * i] ?? 0,
      restPort: rest[2 * i + 1] ?? 0,
      data: join(folder, `node${i + 1}/data`),
      bin: programs.postgres,
      pgpass: join(folder, `node${i + 1}/pgpass`),
    }));
    const [superuser = "", replication = "", service = ""] = Array.from({ length: 3 }, () =>
      randomBytes(18).toString("hex"),
    );
    this.settings = {
      etcd: `${HOST}:${etcd}`,
      nodes: this.nodes,
      network: `${HOST}/32`,
      passwords: { superuser, replication, service },
    };
  }

  /** Starts everything except the service's replicas. The database `keyroot` is empty. */
  static async start(): Promise<Cluster> {
    const folder = mkdtempSync(join(tmpdir(), "keyroot-failover-"));
    try {
      chmodSync(folder, 0o755);
      const ports = new Set<number>();
      while (ports.size < 4 + 2 * NODES) ports.add(await freePort());
      const cluster = new Cluster(folder, findPrograms(folder), [...ports]);
      try {
        await cluster.#start();
        return cluster;
      } catch (error) {
        await cluster[Symbol.asyncDispose]();
        throw error;
      }
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** The URL at which replicas reach the leader. */
  get databaseUrl(): string {
    return `postgres://keyroot:${this.settings.passwords.service}@${HOST}:${this.#ports.database}/keyroot`;
  }

  /** The URL at which callers reach the replicas. */
  get origin(): string {
    return `http://${HOST}:${this.#ports.api}`;
  }

  /** The URL of a node's own PostgreSQL, whether or not it leads. */
  urlOf({ postgresPort }: NodeSettings, database = "keyroot"): string {
    return `postgres://postgres:${this.settings.passwords.superuser}@${HOST}:${postgresPort}/${database}`;
  }

  /** Restarts HAProxy with these replicas. */
  async serve(replicas: readonly Replica[]): Promise<void> {
    this.#replicas = replicas;
    await this.restartProxy();
  }

  async restartProxy(): Promise<void> {
    await this.killProxy();
    this.#startProxy();
  }

  async killProxy(): Promise<void> {
    await this.#end("haproxy", "SIGKILL");
  }

  /** Returns the members that Patroni lists, from any node that responds. */
  async members(): Promise<Member[]> {
    for (const { restPort } of this.nodes) {
      try {
        const response = await fetch(`http://${HOST}:${restPort}/cluster`, { signal: AbortSignal.timeout(1000) });
        if (response.status === 200) return ((await response.json()) as { members: Member[] }).members;
      } catch {
        // This node is down or paused, so ask the next one.
      }
    }
    return [];
  }

  /** Whether a node's Patroni reports that it leads. HAProxy makes the same check. */
  async leads({ restPort }: NodeSettings): Promise<boolean> {
    const options = { method: "OPTIONS", signal: AbortSignal.timeout(500) };
    const response = await fetch(`http://${HOST}:${restPort}/primary`, options).catch(() => undefined);
    return response?.status === 200;
  }

  /** Finds a node that reports itself as the leader, except `except`. */
  async findLeader(except?: NodeSettings): Promise<NodeSettings | undefined> {
    const leads = await Promise.all(this.nodes.map(async (node) => node !== except && (await this.leads(node))));
    return this.nodes.find((_, i) => leads[i]);
  }

  /** Waits for a leader, a synchronous standby, and all nodes in the leader's timeline. */
  async untilReady(): Promise<{ leader: NodeSettings; standbys: NodeSettings[] }> {
    const deadline = Date.now() + ENDLESS_MS;
    while (Date.now() < deadline) {
      await sleep(200);
      const members = await this.members();
      const leader = members.find(({ role }) => role === "leader");
      const isHealthy = ({ state, timeline }: Member) =>
        (state === "running" || state === "streaming") && timeline === leader?.timeline;
      const hasStandby = members.some(({ role }) => role === "sync_standby");
      const node = this.nodes.find(({ name }) => name === leader?.name);
      const ended = [...this.#running].find(([, { exitCode }]) => exitCode !== null);
      if (ended !== undefined) throw new Error(`${ended[0]} ended.\n${this.#logs()}`);
      if (members.length < NODES || !members.every(isHealthy) || !hasStandby || node === undefined) continue;
      // Start with the synchronous standby. Its loss stops commits until the leader has chosen another standby.
      const isSync = ({ name }: NodeSettings) =>
        members.some((one) => one.name === name && one.role === "sync_standby");
      const standbys = this.nodes.filter((one) => one !== node).sort((a, b) => Number(isSync(b)) - Number(isSync(a)));
      return { leader: node, standbys };
    }
    const state = JSON.stringify(await this.members());
    throw new Error(`The cluster is not ready after ${ENDLESS_MS / 1000} s: ${state}\n${this.#logs()}`);
  }

  /** Kills a node's Patroni and PostgreSQL with SIGKILL. */
  async kill(node: NodeSettings): Promise<void> {
    const pids = this.#pidsOf(node);
    this.#running.delete(node.name);
    for (const pid of pids) signal(pid, "SIGSTOP");
    for (const pid of pids) signal(pid, "SIGKILL");
    while (runningOf(pids).length > 0) await sleep(10);
  }

  /** Restarts a killed node, as systemd would restart Patroni. */
  restart(node: NodeSettings): void {
    this.#spawn(node.name, this.#programs.patroni, [join(this.folder, `${node.name}.yml`)]);
  }

  /** Pauses all processes of a node. @returns a function that resumes them */
  pause(node: NodeSettings): () => void {
    const pids = this.#pidsOf(node);
    for (const pid of pids) signal(pid, "SIGSTOP");
    return () => {
      for (const pid of pids) signal(pid, "SIGCONT");
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const node of this.nodes) await this.kill(node);
    for (const name of [...this.#running.keys()]) await this.#end(name, "SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
    await Promise.all(this.#reapers.map(endReaper));
  }

  async #start(): Promise<void> {
    const { etcd, peer } = this.#ports;
    const own = (name: string) => {
      const path = join(this.folder, name);
      mkdirSync(path, { mode: 0o700 });
      chownToServerUser(path);
      return path;
    };
    this.#spawn(
      "etcd",
      this.#programs.etcd,
      [],
      etcdEnvironment(`${HOST}:${etcd}`, `${HOST}:${peer}`, own("etcd-data")),
    );
    for (const node of this.nodes) {
      this.#reapers.push(spawnReaper(own(node.name), join(node.data, "postmaster.pid")));
      this.#write(`${node.name}.yml`, patroniYml(this.settings, node));
      this.restart(node);
    }
    this.#write("unavailable.http", UNAVAILABLE_HTTP.replaceAll("\n", "\r\n"));
    this.#startProxy();
    const { leader } = await this.untilReady();
    await runAt(
      this.urlOf(leader, "postgres"),
      `CREATE ROLE keyroot LOGIN PASSWORD '${this.settings.passwords.service}'`,
    );
    await runAt(this.urlOf(leader, "postgres"), "CREATE DATABASE keyroot OWNER keyroot");
  }

  #startProxy(): void {
    const { database, api } = this.#ports;
    const settings = {
      nodes: this.nodes,
      replicas: this.#replicas,
      database: `${HOST}:${database}`,
      api: `${HOST}:${api}`,
      unavailable: join(this.folder, "unavailable.http"),
    };
    const path = this.#write("haproxy.cfg", haproxyCfg(settings));
    this.#spawn("haproxy", this.#programs.haproxy, ["-db", "-q", "-f", path]);
  }

  #write(name: string, text: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    chownToServerUser(path);
    return path;
  }

  /** Starts a process in a separate group, which Ctrl-C does not reach. The process ends with this process. */
  #spawn(name: string, program: string, args: readonly string[], settings: Record<string, string> = {}): void {
    const log = openSync(join(this.folder, `${name}.log`), "a");
    const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LANG: "C.UTF-8", ETCD_UNSUPPORTED_ARCH: process.arch };
    const child = spawn("setpriv", ["--pdeathsig", "KILL", "--", program, ...args], {
      ...serverUser,
      cwd: this.folder,
      env: { ...env, ...this.#programs.env, ...settings },
      stdio: ["ignore", log, log],
      detached: true,
    });
    closeSync(log);
    this.#running.set(name, child);
  }

  async #end(name: string, how: NodeJS.Signals): Promise<void> {
    const child = this.#running.get(name);
    this.#running.delete(name);
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(how);
    await exited;
  }

  /** Returns the ids of Patroni, and of PostgreSQL and its children, which are not children of Patroni. */
  #pidsOf({ name, data }: NodeSettings): number[] {
    const parents: number[] = [];
    const patroni = this.#running.get(name);
    if (patroni?.pid !== undefined && patroni.exitCode === null) parents.push(patroni.pid);
    try {
      parents.push(Number.parseInt(readFileSync(join(data, "postmaster.pid"), "utf8")));
    } catch {
      // PostgreSQL is not running.
    }
    for (const pid of parents) signal(pid, "SIGSTOP");
    return parents.flatMap((pid) => [pid, ...childrenOf(pid)]);
  }

  #logs(): string {
    const end = (name: string) => {
      try {
        return `${name}:\n${readFileSync(join(this.folder, `${name}.log`), "utf8").slice(-1500)}\n`;
      } catch {
        return "";
      }
    };
    return ["etcd", ...this.nodes.map(({ name }) => name), "haproxy"].map(end).join("");
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has already ended.
  }
}
