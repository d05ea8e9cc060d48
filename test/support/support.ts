import { mkdtemp, rm, stat } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

export { freePort, hold, portOf } from "./servers/ports.ts";

/** Gives every test of the surrounding `describe` a fresh folder. */
export function temporaryFolder(): { readonly path: string } {
  const folder = { path: "" };
  beforeEach(async () => {
    folder.path = await mkdtemp(join(tmpdir(), "keyroot-test-"));
  });
  afterEach(() => rm(folder.path, { recursive: true, force: true }));
  return folder;
}

/** Closes everything that a test opened, in reverse order, after the test. */
export const closedAfterEach = () => closedBy(afterEach);

/** Closes everything that the tests of the surrounding `describe` opened, in reverse order, after the last test. */
export const closedAfterAll = () => closedBy(after);

function closedBy(hook: (close: () => Promise<void>) => void): <T extends { close(): unknown }>(opened: T) => T {
  const all: { close(): unknown }[] = [];
  hook(async () => {
    for (const opened of all.splice(0).reverse()) await opened.close();
  });
  return (opened) => {
    all.push(opened);
    return opened;
  };
}

/** Sends a request without changes, even if it is invalid. Returns the whole response. */
export async function sendRaw(url: string, request: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(request);
  return text(socket);
}

/** Waits until a connection has ended, in order or by a reset. */
export function closeOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket
      .on("error", () => undefined)
      .once("close", () => {
        resolve();
      });
  });
}

/** Calls a method over JSON-RPC and returns its result. @throws Error if the endpoint returns an error */
export async function rpc(url: string, method: string, params: unknown[] = []): Promise<unknown> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const body = await response.text();
  if (response.status !== 200) throw new Error(`${method}: status ${response.status}: ${body}`);
  const answer = JSON.parse(body) as { result?: unknown; error?: unknown };
  if (answer.error !== undefined) throw new Error(`${method}: ${body}`);
  return answer.result;
}

/** Returns the reason of a rejected promise. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("The promise was not rejected.");
}

/** Returns the permissions of a file or folder, such as "600". */
export async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}

/** Fails where a test expects a value: `list[0] ?? never()`. */
export function never(why = "The expected value is missing."): never {
  throw new Error(why);
}

/** Returns all items of a list that is read in pages. */
export async function all<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of iterable) items.push(item);
  return items;
}
