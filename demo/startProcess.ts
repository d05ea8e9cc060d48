import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A script in a separate process that responds to each line of its standard input with one line of its output. */
export interface LineProcess extends AsyncDisposable {
  /** Writes a line and returns the line that responds to it. Only one request at a time. */
  request(line: string): Promise<string>;
}

/** Starts a script under the same Node. It ends when it is disposed of or when `signal` aborts. */
export function startProcess(script: URL, signal: AbortSignal): LineProcess {
  const child = spawn(process.execPath, [fileURLToPath(script)], { stdio: ["pipe", "pipe", "inherit"], signal });
  const ended = once(child, "close");
  // `request` reports the failure.
  ended.catch(() => undefined);
  child.stdin.on("error", () => undefined);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async request(line) {
      child.stdin.write(`${line}\n`);
      const response = await lines.next();
      if (response.done !== true) return response.value;
      signal.throwIfAborted();
      throw new Error(`${fileURLToPath(script)} ended without a response.`);
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await ended.catch(() => undefined);
    },
  };
}
