import { once } from "node:events";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";

/** Where commands find the local stack that another process runs. */
export interface StackNote {
  /** `http://127.0.0.1:<port>`: JSON-RPC of the chain. */
  readonly rpcUrl: string;
  /** `http://127.0.0.1:<port>`: the host of the Merkle-tree files. */
  readonly merkleUrl: string;
  /** The folder, an absolute path, whose files `merkleUrl` serves. */
  readonly merkleDir: string;
  /** The address of the registry, `0x` and 40 hex digits. */
  readonly contract: string;
  readonly chainId: number;
  /** The partner service, where the stack has one. */
  readonly service?: ServiceNote;
  /** The process that runs the stack. */
  readonly pid: number;
}

/** Where the stack's partner service is. */
export interface ServiceNote {
  /** `http://127.0.0.1:<port>`. */
  readonly baseUrl: string;
  /** What lets its operator in. */
  readonly adminToken: string;
}

/** The note's path in a project; the environment variable KEYROOT_STACK_FILE names another, for a stack beside it. */
export const stackFilePath = (projectRoot: string): string =>
  resolve(projectRoot, process.env["KEYROOT_STACK_FILE"] ?? join(".keyroot", "stack.json"));

/**
 * Notes a running stack, all at once: no reader sees half a note. Of two stacks that start in the same instant the
 * later writer is the one noted.
 *
 * @returns false when another running stack is noted already; its note stays as it is.
 */
export async function writeStackFile(projectRoot: string, note: StackNote): Promise<boolean> {
  if ((await readStackFile(projectRoot)) !== undefined) return false;
  const path = stackFilePath(projectRoot);
  const draft = `${path}.${note.pid}`;
  await mkdir(dirname(path), { recursive: true });
  // It holds a token: for this account's eyes only.
  await writeFile(draft, `${JSON.stringify(note, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, path);
  return true;
}

/**
 * Reads which stack is running. A note counts only while its process lives and its chain's port accepts connections
 * (process ids are used again); one that is malformed counts as none, so that the next stack replaces it.
 */
export async function readStackFile(projectRoot: string): Promise<StackNote | undefined> {
  const note = await readNote(projectRoot);
  return note !== undefined && isAlive(note.pid) && (await accepts(note.rpcUrl)) ? note : undefined;
}

/** Removes the note of this very stack; any other stays. */
export async function removeStackFile(projectRoot: string, note: StackNote): Promise<void> {
  if (isDeepStrictEqual(await readNote(projectRoot), note)) await rm(stackFilePath(projectRoot), { force: true });
}

async function readNote(projectRoot: string): Promise<StackNote | undefined> {
  let text: string;
  try {
    text = await readFile(stackFilePath(projectRoot), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    return parseNote(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function parseNote(json: unknown): StackNote | undefined {
  if (typeof json !== "object" || json === null) return undefined;
  const { rpcUrl, merkleUrl, merkleDir, contract, chainId, service, pid } = json as Record<keyof StackNote, unknown>;
  const valid =
    isLocalUrl(rpcUrl) &&
    isLocalUrl(merkleUrl) &&
    typeof merkleDir === "string" &&
    isAbsolute(merkleDir) &&
    typeof contract === "string" &&
    /^0x[0-9a-fA-F]{40}$/.test(contract) &&
    isCount(chainId) &&
    isCount(pid);
  if (!valid) return undefined;
  return { rpcUrl, merkleUrl, merkleDir, contract, chainId, pid, ...(isServiceNote(service) && { service }) };
}

function isServiceNote(value: unknown): value is ServiceNote {
  if (typeof value !== "object" || value === null) return false;
  const { baseUrl, adminToken } = value as Record<keyof ServiceNote, unknown>;
  return isLocalUrl(baseUrl) && typeof adminToken === "string";
}

function isLocalUrl(value: unknown): value is string {
  return typeof value === "string" && /^http:\/\/127\.0\.0\.1:[0-9]{1,5}$/.test(value) && URL.canParse(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Not allowed to signal it, so it is there.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

async function accepts(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
