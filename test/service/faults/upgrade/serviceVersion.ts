import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const SERVICE = "packages/service/src";

/** The changes of a version of the service compared with the previous version. */
export interface Upgrade {
  name: string;
  /** Edits `keys/tables.ts`. Default: no change. */
  tables?: (source: string) => string;
  /** The SQL of the version's migration. @param known number of migrations in the previous version */
  migration: (known: number) => string;
}

interface JournalEntry {
  idx: number;
  version: string;
  when: number;
  tag: string;
  breakpoints: boolean;
}

/** A copy of the operator's and the service's packages. Its commands run as separate processes. */
export class ServiceVersion {
  readonly name: string;
  readonly #folder: string;

  private constructor(name: string, folder: string) {
    this.name = name;
    this.#folder = folder;
  }

  /** Copies this repository's version. @param parent the folder in which the copy is made */
  static async copyOf(parent: string, name: string): Promise<ServiceVersion> {
    const folder = join(parent, name);
    const modules = join(folder, "node_modules");
    await mkdir(join(modules, "@keyroot"), { recursive: true });
    for (const name of await readdir(join(ROOT, "node_modules")))
      if (name !== "@keyroot") await symlink(join(ROOT, "node_modules", name), join(modules, name));
    for (const name of ["contracts", "web"])
      await symlink(join(ROOT, "node_modules/@keyroot", name), join(modules, "@keyroot", name));
    for (const name of ["operator", "service"]) {
      await cp(join(ROOT, "packages", name), join(folder, "packages", name), {
        recursive: true,
        verbatimSymlinks: true,
        filter: (path) => !path.endsWith("/node_modules"),
      });
      await symlink(join("../../packages", name), join(modules, "@keyroot", name));
    }
    await symlink(join(ROOT, "packages/operator/node_modules"), join(folder, "packages/operator/node_modules"));
    return new ServiceVersion(name, folder);
  }

  /** Creates the next version from this version. */
  async next({ name, tables = (source) => source, migration }: Upgrade): Promise<ServiceVersion> {
    const folder = join(this.#folder, "..", name);
    await cp(this.#folder, folder, { recursive: true, verbatimSymlinks: true });
    const source = join(folder, SERVICE, "keys/tables.ts");
    await writeFile(source, tables(await readFile(source, "utf8")));
    const migrations = join(folder, SERVICE, "database/migrations");
    const path = join(migrations, "meta/_journal.json");
    const journal = JSON.parse(await readFile(path, "utf8")) as { entries: JournalEntry[] };
    const last = journal.entries.at(-1);
    if (last === undefined) throw new Error("There are no migrations.");
    const tag = `${String(last.idx + 1).padStart(4, "0")}_${name}`;
    journal.entries.push({ ...last, idx: last.idx + 1, when: last.when + 1, tag });
    await writeFile(path, JSON.stringify(journal));
    await writeFile(join(migrations, `${tag}.sql`), migration(last.idx + 1));
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

export interface Replica extends AsyncDisposable {
  readonly url: string;
  readonly monitoringUrl: string;
  /** Stops the process with SIGTERM. @throws Error if its exit code is not 0 */
  stop(): Promise<void>;
}
