import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const STORE = "packages/operator/src/service/store";

/** What a version of the service changes, in comparison with the one before it. */
export interface Upgrade {
  name: string;
  /** Edits `tables.ts`. Default: no change. */
  tables?: (source: string) => string;
  /** The SQL of its migration. @param known the number of migrations that the version before it knows */
  migration: (known: number) => string;
}

interface JournalEntry {
  idx: number;
  version: string;
  when: number;
  tag: string;
  breakpoints: boolean;
}

/** A version of the operator's package in a folder of its own, whose commands run as separate processes. */
export class ServiceVersion {
  readonly name: string;
  readonly #folder: string;

  private constructor(name: string, folder: string) {
    this.name = name;
    this.#folder = folder;
  }

  /** Copies this repository's version. @param parent the folder in which to make a folder */
  static async copyOf(parent: string, name: string): Promise<ServiceVersion> {
    const folder = join(parent, name);
    const operator = join(folder, "packages/operator");
    await mkdir(operator, { recursive: true });
    await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
    for (const part of ["src", "package.json"])
      await cp(join(ROOT, "packages/operator", part), join(operator, part), { recursive: true });
    for (const part of ["node_modules", "site"]) {
      const target = join(ROOT, "packages/operator", part);
      if (existsSync(target)) await symlink(target, join(operator, part));
    }
    return new ServiceVersion(name, folder);
  }

  /** Makes the next version from this one. */
  async next({ name, tables = (source) => source, migration }: Upgrade): Promise<ServiceVersion> {
    const folder = join(this.#folder, "..", name);
    await cp(this.#folder, folder, { recursive: true, verbatimSymlinks: true });
    const store = join(folder, STORE);
    const source = join(store, "tables.ts");
    await writeFile(source, tables(await readFile(source, "utf8")));
    const path = join(store, "migrations/meta/_journal.json");
    const journal = JSON.parse(await readFile(path, "utf8")) as { entries: JournalEntry[] };
    const last = journal.entries.at(-1);
    if (last === undefined) throw new Error("There are no migrations.");
    const tag = `${String(last.idx + 1).padStart(4, "0")}_${name}`;
    journal.entries.push({ ...last, idx: last.idx + 1, when: last.when + 1, tag });
    await writeFile(path, JSON.stringify(journal));
    await writeFile(join(store, "migrations", `${tag}.sql`), migration(last.idx + 1));
    return new ServiceVersion(name, folder);
  }

  /** Runs `keyroot migrate`. @throws Error if it fails */
  async migrate(environment: NodeJS.ProcessEnv): Promise<void> {
    const child = this.#run(["migrate"], environment);
    const output = text(child.stderr as never);
    const [code] = (await once(child, "exit")) as [number];
    if (code !== 0) throw new Error(`keyroot migrate of ${this.name} failed: ${await output}`);
  }

  /** Runs `keyroot serve`. @throws Error with its output if it does not start */
  async serve(environment: NodeJS.ProcessEnv): Promise<Replica> {
    const child = this.#run(["serve", "--json"], environment);
    const output = text(child.stderr as never);
    const ended = once(child, "exit");
    const started = once(createInterface(child.stdout as never), "line") as Promise<[string]>;
    const line = await Promise.race([started, ended.then(() => undefined)]);
    if (line === undefined) throw new Error(`${this.name} did not start: ${await output}`);
    const { url, monitoringUrl } = JSON.parse(line[0]) as { url?: string; monitoringUrl?: string };
    if (url === undefined || monitoringUrl === undefined) throw new Error(`${this.name} did not start: ${line[0]}`);
    return {
      url,
      monitoringUrl,
      async stop() {
        child.kill("SIGTERM");
        const [code] = (await ended) as [number | null];
        if (code !== 0) throw new Error(`A replica ended with the code ${code}: ${await output}`);
      },
      async [Symbol.asyncDispose]() {
        if (child.exitCode === null && child.kill("SIGKILL")) await ended;
      },
    };
  }

  #run(words: string[], environment: NodeJS.ProcessEnv): ChildProcess {
    const program = join(this.#folder, "packages/operator/src/cli.ts");
    const env = { ...process.env, NODE_ENV: "production", ...environment };
    return spawn(process.execPath, [program, ...words], { env, stdio: ["ignore", "pipe", "pipe"] });
  }
}

/** A running process of the service. */
export interface Replica extends AsyncDisposable {
  readonly url: string;
  readonly monitoringUrl: string;
  /** Ends it by SIGTERM. @throws Error if its exit code is not 0 */
  stop(): Promise<void>;
}
