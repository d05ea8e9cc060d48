import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { KeyrootError } from "keyroot/errors";
import { ADDRESS } from "keyroot/ethereum";
import { parseJson, ShapeChecker } from "keyroot/input";
import { ArgumentError } from "../errors.ts";
import { makeFolder } from "../disk/folder.ts";

/** The addresses of a running local stack, which commands read from its file. */
export interface StackFile {
  /** `http://127.0.0.1:<port>`: JSON-RPC of the chain. */
  readonly rpcUrl: string;
  /** `http://127.0.0.1:<port>`: the host of the Merkle-tree files. */
  readonly merkleUrl: string;
  /** The folder, an absolute path, whose files `merkleUrl` serves. */
  readonly filesDir: string;
  /** The address of the registry, `0x` and 40 hex digits. */
  readonly contract: string;
  readonly chainId: number;
  /** `http://127.0.0.1:<port>`: the simulated beacon endpoint, if the stack has one. */
  readonly beaconUrl?: string;
  /** The partner service, if the stack has one. */
  readonly service?: StackService;
  /** The process that runs the stack. */
  readonly pid: number;
}

/** The stack's partner service. */
export interface StackService {
  /** `http://127.0.0.1:<port>`. */
  readonly serviceUrl: string;
  /** The secret that admin operations require. */
  readonly adminToken: string;
}

/** The stack file of a project; the environment variable KEYROOT_STACK_FILE names another one, for a second stack. */
export const stackFilePath = (root: string): string =>
  resolve(root, process.env["KEYROOT_STACK_FILE"] ?? join(".keyroot", "stack.json"));

/**
 * Writes the stack file atomically. If two stacks start at the same instant, the later writer wins.
 *
 * @returns false if another running stack has written its file; that file stays unchanged.
 */
export async function writeStackFile(root: string, stack: StackFile): Promise<boolean> {
  if ((await readStackFile(root)) !== undefined) return false;
  const path = stackFilePath(root);
  const draft = `${path}.${stack.pid}`;
  await makeFolder(dirname(path));
  // The file contains a token, so only this account may read it.
  await writeFile(draft, `${JSON.stringify(stack, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, path);
  return true;
}

/**
 * Returns the running stack. A file counts only while its process lives and its chain's port accepts connections (process
 * ids are reused). A malformed file does not count, so the next stack replaces it.
 */
export async function readStackFile(root: string): Promise<StackFile | undefined> {
  let text: string;
  try {
    text = await readFile(stackFilePath(root), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const stack = parseStackFile(text);
  return stack !== undefined && isAlive(stack.pid) && (await accepts(stack.rpcUrl)) ? stack : undefined;
}

/** Removes the file of this stack; the file of any other stack stays. Synchronous, so that it also works during exit. */
export function removeStackFile(root: string, stack: StackFile): void {
  const path = stackFilePath(root);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  if (isDeepStrictEqual(parseStackFile(text), stack)) rmSync(path, { force: true });
}

const LOCAL_URL = /^http:\/\/127\.0\.0\.1:[0-9]{1,5}$/;
const shape = new ShapeChecker((message, details) => new ArgumentError("STATE_INVALID", message, details));

/** @returns undefined for a malformed file */
function parseStackFile(text: string): StackFile | undefined {
  try {
    const keys = ["rpcUrl", "merkleUrl", "filesDir", "contract", "chainId", "beaconUrl", "service", "pid"] as const;
    const { beaconUrl, service, ...values } = shape.fields("", parseJson(text, 2), keys);
    const { rpcUrl, merkleUrl, filesDir, contract, chainId, pid } = values;
    const stack = {
      rpcUrl: localUrl("rpcUrl", rpcUrl),
      merkleUrl: localUrl("merkleUrl", merkleUrl),
      filesDir: shape.text("filesDir", filesDir),
      contract: shape.text("contract", contract, ADDRESS),
      chainId: shape.count("chainId", chainId),
      pid: shape.count("pid", pid),
      ...(beaconUrl !== undefined && { beaconUrl: localUrl("beaconUrl", beaconUrl) }),
      ...(service !== undefined && { service: parseService(service) }),
    };
    // A signal to process 0 would reach this process.
    return isAbsolute(stack.filesDir) && stack.chainId > 0 && stack.pid > 0 ? stack : undefined;
  } catch (error) {
    if (error instanceof KeyrootError) return undefined;
    throw error;
  }
}

function parseService(value: unknown): StackService {
  const { serviceUrl, adminToken } = shape.fields("service", value, ["serviceUrl", "adminToken"]);
  return {
    serviceUrl: localUrl("service.serviceUrl", serviceUrl),
    adminToken: shape.text("service.adminToken", adminToken),
  };
}

function localUrl(path: string, value: unknown): string {
  const url = shape.text(path, value, LOCAL_URL);
  // A port above 65,535.
  if (!URL.canParse(url)) throw new ArgumentError("STATE_INVALID", `${path} has an invalid port.`);
  return url;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process exists, but may not be signalled.
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
