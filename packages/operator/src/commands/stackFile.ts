import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { isAbsolute, join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { KeyrootError } from "keyroot/internal/errors";
import type { KeyTypeName } from "keyroot/internal/identity";
import { ADDRESS } from "keyroot/internal/ethereum";
import { parseJson, ShapeChecker } from "keyroot/internal/input";
import { isLoopback } from "keyroot/internal/transport";
import { ArgumentError } from "../errors.ts";
import { keyType as keyTypeOption } from "./defineCommand.ts";
import type { Host } from "./host.ts";
import { ifExists } from "../disk/fileErrors.ts";
import { writeFileAtomic } from "../disk/writeFileAtomic.ts";

/** The addresses of a running local stack. Commands read the addresses from the stack file. */
export interface StackFile {
  /** The URL of the chain's JSON-RPC endpoint: `http://127.0.0.1:<port>`. */
  readonly rpcUrl: string;
  /** The URL of the file host for Merkle-tree files: `http://127.0.0.1:<port>`. */
  readonly merkleUrl: string;
  /** The absolute path of the folder with the files that `merkleUrl` serves. */
  readonly filesDir: string;
  /** The address of the registry: `0x` and 40 hex digits. */
  readonly contract: string;
  readonly chainId: number;
  /** The type of the registry's keys. Default: `curve41417`. */
  readonly keyType?: KeyTypeName;
  /** The URL of the simulated beacon endpoint, if the stack has one: `http://127.0.0.1:<port>`. */
  readonly beaconUrl?: string;
  /** The partner service, if the stack has one. */
  readonly service?: StackService;
  /** The id of the process that runs the stack. */
  readonly pid: number;
}

/** The partner service of a stack. */
export interface StackService {
  /** The URL of the service: `http://127.0.0.1:<port>`. */
  readonly serviceUrl: string;
  /** The secret that admin operations require. */
  readonly adminToken: string;
}

/**
 * Returns the path of a project's stack file. To run a second stack in the same project, set the environment variable
 * KEYROOT_STACK_FILE to another path.
 */
export const stackFilePath = (root: string): string =>
  resolve(root, process.env["KEYROOT_STACK_FILE"] ?? join(".keyroot", "stack.json"));

/**
 * Writes the stack file atomically. If two stacks start at the same time, the file that is written last remains.
 * @returns false if the file already describes another running stack; the file then stays unchanged
 * @throws TransportError FILE_UNWRITABLE
 */
export async function writeStackFile(root: string, stack: StackFile): Promise<boolean> {
  if ((await readStackFile(root)) !== undefined) return false;
  // The stack file contains a token, so only its owner may read it.
  await writeFileAtomic(stackFilePath(root), `${JSON.stringify(stack, null, 2)}\n`, 0o600);
  return true;
}

/**
 * Returns the local stack if its process exists and the port of its chain accepts connections. The process id alone is
 * no proof, because another program may have the same id now. A malformed file is ignored, and replaced when the next
 * stack starts.
 */
export async function readStackFile(root: string): Promise<StackFile | undefined> {
  const text = await ifExists(readFile(stackFilePath(root), "utf8"));
  const stack = text === undefined ? undefined : parseStackFile(text);
  return stack !== undefined && isAlive(stack.pid) && (await accepts(stack.rpcUrl)) ? stack : undefined;
}

/**
 * Returns the endpoint of a command, and the running local stack if the command uses it. A command uses the stack if no
 * endpoint is given, or if the endpoint is that of the stack.
 * @param rpc the URL in `--rpc`. It is ignored if `--network` is given
 */
export async function findStack(
  host: Host,
  rpc: string | undefined,
): Promise<{ endpoint: string | undefined; stack: StackFile | undefined }> {
  const endpoint = host.hasNetwork ? await host.networkUrl() : rpc;
  // A simulated network has no URL, and is never the stack's.
  const isSimulated = host.hasNetwork && endpoint === undefined;
  const stack = isSimulated ? undefined : await readStackFile(host.root);
  const isOwn = stack !== undefined && (endpoint === undefined || isSameOnThisMachine(endpoint, stack.rpcUrl));
  return { endpoint, stack: isOwn ? stack : undefined };
}

/**
 * Returns true if both URLs name the same port of this machine, such as `http://localhost:8545` and
 * `http://127.0.0.1:8545`.
 */
function isSameOnThisMachine(endpoint: string, stackUrl: string): boolean {
  if (!URL.canParse(endpoint)) return false;
  const { protocol, hostname, port } = new URL(endpoint);
  return protocol === "http:" && isLoopback(hostname) && port === new URL(stackUrl).port;
}

/**
 * Removes the file of this stack, unless another stack has replaced it. The function is synchronous, because it also
 * runs while the process exits.
 */
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

/** Parses a stack file. Returns undefined for a malformed file. */
function parseStackFile(text: string): StackFile | undefined {
  try {
    const keys = [
      "rpcUrl",
      "merkleUrl",
      "filesDir",
      "contract",
      "chainId",
      "keyType",
      "beaconUrl",
      "service",
      "pid",
    ] as const;
    const { keyType, beaconUrl, service, ...values } = shape.fields("", parseJson(text, 2), keys);
    const { rpcUrl, merkleUrl, filesDir, contract, chainId, pid } = values;
    const stack = {
      rpcUrl: localUrl("rpcUrl", rpcUrl),
      merkleUrl: localUrl("merkleUrl", merkleUrl),
      filesDir: shape.text("filesDir", filesDir),
      contract: shape.text("contract", contract, ADDRESS),
      chainId: shape.count("chainId", chainId),
      pid: shape.count("pid", pid),
      ...(keyType !== undefined && { keyType: shape.oneOf("keyType", keyType, keyTypeOption.choices) }),
      ...(beaconUrl !== undefined && { beaconUrl: localUrl("beaconUrl", beaconUrl) }),
      ...(service !== undefined && { service: parseService(service) }),
    };
    // Reject process id 0: a signal to it reaches this process, so `isAlive` would always return true.
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
  // The URL is invalid if its port is above 65,535.
  if (!URL.canParse(url)) throw new ArgumentError("STATE_INVALID", `${path} has an invalid port.`);
  return url;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM means that the process exists, but does not accept signals from this process's user.
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
