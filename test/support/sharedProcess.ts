import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Ran } from "./commandLine.ts";
import type { ProgramRun } from "./runMany.ts";

const RUN_MANY = fileURLToPath(new URL("runMany.ts", import.meta.url));

/** One process that runs a program many times, one run after another: see `runMany.ts`. It ends with this process. */
export class SharedProcess {
  #child: ChildProcess | undefined;
  #previous: Promise<unknown> = Promise.resolve();

  run(run: ProgramRun): Promise<Ran> {
    const result = this.#previous.then(() => this.#runNow(run));
    this.#previous = result.catch(() => undefined);
    return result;
  }

  async #runNow(run: ProgramRun): Promise<Ran> {
    const child = (this.#child ??= fork(RUN_MANY, { env: run.env, execArgv: [] }));
    child.ref();
    child.channel?.ref();
    const ended = new AbortController();
    const onExit = (code: number | null, signal: string | null) => {
      this.#child = undefined;
      ended.abort(new Error(`${run.words.join(" ")} ended the shared process: ${code ?? signal}.`));
    };
    child.once("exit", onExit);
    try {
      child.send(run);
      const [ran] = (await once(child, "message", { signal: ended.signal })) as [Ran];
      return ran;
    } finally {
      child.off("exit", onExit);
      // Waiting for the next run keeps neither process alive.
      child.channel?.unref();
      child.unref();
    }
  }
}
