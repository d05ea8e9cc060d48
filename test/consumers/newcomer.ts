import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { StackFile } from "../../packages/operator/src/commands/stackFile.ts";
import { environment, outcomeOf } from "../support/processes/commandLine.ts";
import type { Ran } from "../support/processes/runMany.ts";
import { type CodeBlock, codeBlocksOf, readPage } from "../support/pages.ts";
import { packPackage, ROOT } from "../support/packages/installPackages.ts";
import { installTools } from "./tools.ts";

/** The packages of this repository: name on npm -> name in `scripts/package/packages.ts`. */
const OURS: Readonly<Record<string, string>> = {
  keyroot: "keyroot",
  "@keyroot/client": "client",
  "@keyroot/contracts": "contracts",
  "@keyroot/operator": "operator",
  "@keyroot/service": "service",
};

/** The addresses in the pages and examples. A stack uses them if their ports are free. */
const DEFAULT_URLS = ["http://127.0.0.1:8545", "http://127.0.0.1:8546", "http://127.0.0.1:8547"] as const;

/**
 * A newcomer's folder after the quick start's first section, in which the packed packages are installed and a stack is
 * running. The quick starts and the examples share it.
 */
class Newcomer {
  #started: Promise<void> | undefined;
  readonly #closing = new AsyncDisposableStack();
  /** The sections of docs/quickstart.md. */
  sections!: Map<string, CodeBlock[]>;
  folder!: string;
  /** The program of the newcomer's Node. */
  node!: string;
  #stack: Required<StackFile> | undefined;
  #env!: NodeJS.ProcessEnv;

  /** Installs the packages and starts the stack, unless this was done before. */
  start(): Promise<void> {
    return (this.#started ??= this.#start());
  }

  async #start(): Promise<void> {
    this.folder = this.#closing.adopt(await mkdtemp(join(tmpdir(), "keyroot-newcomer-")), (path) =>
      rm(path, { recursive: true, force: true }),
    );
    this.node = await findNode();
    // Commands in the examples' folders also use this stack.
    const KEYROOT_STACK_FILE = join(this.folder, ".keyroot", "stack.json");
    this.#env = environment({
      ...{ PATH: pathWith(this.node), TMPDIR: this.folder, KEYROOT_STACK_FILE },
      ...{ npm_config_prefer_offline: "true", npm_config_audit: "false" },
    });
    this.sections = Map.groupBy(codeBlocksOf(await readPage("docs/quickstart.md")), ({ heading }) => heading);
    const [install, config, stack, publish] = this.sections.get("Start a local system") ?? [];
    if (!install || !config || !stack || !publish) throw new Error("docs/quickstart.md does not start a system.");
    await this.runOrFail(await this.#withTarballs(install.text));
    await this.write(config);
    await this.#startStack(stack.text.trim());
  }

  /** Replaces packages with this repository's tarballs and versions. Adds the packages that the examples need. */
  async #withTarballs(commands: string): Promise<string> {
    const manifests = ["package.json", "packages/web/package.json"].map(async (name) => {
      const manifest = await readFile(join(ROOT, name), "utf8");
      return JSON.parse(manifest) as Record<"dependencies" | "devDependencies", Record<string, string>>;
    });
    const versions: Record<string, string | undefined> = {};
    for (const each of await Promise.all(manifests)) Object.assign(versions, each.dependencies, each.devDependencies);
    const [before = "", words = ""] = commands.trimEnd().split("npm install ");
    const names = new Set([...words.split(" "), ...Object.keys(OURS), ...EXAMPLES_NEED]);
    const specifiers = [...names].map(async (name) => {
      const ours = OURS[name];
      if (ours !== undefined) return packPackage(ours);
      // Tests of this commit do not depend on versions that are published after it.
      const version = versions[name];
      if (version === undefined) throw new Error(`No package.json has a version of ${name}.`);
      return `${name}@${version}`;
    });
    return `${before}npm install ${(await Promise.all(specifiers)).join(" ")}`;
  }

  async #startStack(command: string): Promise<void> {
    const [program = "", ...args] = command.split(" ");
    const child = spawn(program, [...args, "--port", "0"], {
      cwd: this.folder,
      env: this.#env,
      stdio: ["ignore", "pipe", "inherit"],
      detached: true,
    });
    const closed = once(child, "close");
    this.#closing.defer(async () => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGINT");
      await closed;
    });
    for await (const line of createInterface({ input: child.stdout })) if (line.includes("Ctrl-C")) break;
    this.#stack = JSON.parse(await readFile(this.#env["KEYROOT_STACK_FILE"] ?? "", "utf8")) as Required<StackFile>;
  }

  get stack(): Required<StackFile> {
    if (this.#stack === undefined) throw new Error("The stack was not started.");
    return this.#stack;
  }

  /** Replaces the default addresses in a text with this stack's addresses, if the stack is running. */
  withUrls(text: string): string {
    if (this.#stack === undefined) return text;
    const urls = [this.stack.rpcUrl, this.stack.merkleUrl, this.stack.service.serviceUrl];
    return DEFAULT_URLS.reduce((replaced, url, i) => replaced.replaceAll(url, urls[i] ?? ""), text);
  }

  /** Writes a block to a file, whose name is in a comment in the block's first line. */
  async write({ text }: CodeBlock): Promise<void> {
    const [, name] = /^\/\/ (\S+)\n/.exec(text) ?? [];
    if (name === undefined) throw new Error(`The first line does not name a file: ${text}`);
    await writeFile(join(this.folder, name), this.withUrls(text));
  }

  /** Copies an example into the folder, where it finds the installed packages. @returns its folder */
  async copyExample(name: string): Promise<string> {
    const folder = join(this.folder, "examples", name);
    await mkdir(dirname(folder), { recursive: true });
    await cp(join(ROOT, "examples", name), folder, { recursive: true });
    return folder;
  }

  /** Runs shell commands in the folder, or in one below it. The stack is found from everywhere. */
  run(commands: string, { cwd = this.folder, env = {} }: { cwd?: string; env?: NodeJS.ProcessEnv } = {}): Promise<Ran> {
    const child = spawn("bash", ["-euo", "pipefail", "-c", commands], {
      // Bash reads /etc/bash.bashrc if its input is a socket, as Node's pipes are.
      ...{ cwd, stdio: ["ignore", "pipe", "pipe"], detached: true },
      env: { ...this.#env, ...env },
    });
    return outcomeOf(child);
  }

  /** @returns the standard output @throws Error with all that was printed if the commands fail */
  async runOrFail(commands: string, options?: Parameters<this["run"]>[1]): Promise<string> {
    const { code, stdout, stderr } = await this.run(commands, options);
    if (code !== 0) throw new Error(`${commands}\nexit code ${code}\n${stdout}${stderr}`);
    return stdout;
  }

  stop(): Promise<void> {
    return this.#closing.disposeAsync();
  }
}

/** Packages of the examples that the quick start does not install. */
const EXAMPLES_NEED = ["vite", "@nomicfoundation/hardhat-mocha", "solc"];

/** The oldest supported Node if NEWCOMER_NODE is 22, otherwise the Node of this process. */
async function findNode(): Promise<string> {
  if (process.env["NEWCOMER_NODE"] !== "22") return process.execPath;
  const { node } = await installTools();
  if (node[22] === undefined) throw new Error("npm has no Node 22 for this platform.");
  return node[22];
}

/** The PATH without this repository's programs. This Node comes first. */
function pathWith(node: string): string {
  const others = (process.env["PATH"] ?? "").split(delimiter).filter((path) => !path.startsWith(ROOT));
  return [dirname(node), ...others].join(delimiter);
}

/** The newcomer of all tests in this process. */
export const newcomer = new Newcomer();

// Outside every describe: runs after the last test.
after("the newcomer's stack stops", () => newcomer.stop());
