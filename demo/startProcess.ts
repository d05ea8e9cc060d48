import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A process of this project's own that answers each line of its standard input with one line of its output. */
export interface Interlocutor extends AsyncDisposable {
  /** Writes a line and returns the line that answers it; one question at a time. */
  ask(line: string): Promise<string>;
}

/** Starts a script under the same Node. It ends when it is disposed of, or as soon as `signal` says so. */
export function startProcess(script: URL, signal: AbortSignal): Interlocutor {
  const child = spawn(process.execPath, [fileURLToPath(script)], { stdio: ["pipe", "pipe", "inherit"], signal });
  const ended = once(child, "close");
  // `ask` reports what went wrong.
  ended.catch(() => undefined);
  child.stdin.on("error", () => undefined);
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask(line) {
      child.stdin.write(`${line}\n`);
      const answer = await answers.next();
      if (answer.done !== true) return answer.value;
      signal.throwIfAborted();
      throw new Error(`${fileURLToPath(script)} ended without an answer.`);
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await ended.catch(() => undefined);
    },
  };
}
