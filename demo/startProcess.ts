import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A script in a separate process that responds to each line of standard input with one line of output. */
export interface LineProcess extends AsyncDisposable {
  /** Writes a line and returns the response line. The responses to open requests come in the order of the requests. */
  request(line: string): Promise<string>;
}

/**
 * Starts a script with this version of Node. The process ends when the caller disposes of it or when `signal` aborts.
 */
export function startProcess(script: URL, signal: AbortSignal): LineProcess {
  const child = spawn(process.execPath, [fileURLToPath(script)], { stdio: ["pipe", "pipe", "inherit"], signal });
  const ended = once(child, "close");
  // `request` reports a failure of the process.
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
