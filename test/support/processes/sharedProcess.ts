import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { ProgramRun, Ran } from "./runMany.ts";
import { ENDLESS_MS } from "../endless.ts";

const RUN_MANY = fileURLToPath(new URL("runMany.ts", import.meta.url));

/** A process that runs a program many times, one run after another (`runMany.ts`). It ends with this process. */
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
      ended.abort(new Error(`The process ended: ${code ?? signal}.`));
    };
    child.once("exit", onExit);
    const signal = AbortSignal.any([ended.signal, AbortSignal.timeout(ENDLESS_MS)]);
    try {
      child.send(run);
      const [ran] = (await once(child, "message", { signal })) as [Ran];
      return ran;
    } catch (cause) {
      child.kill("SIGKILL");
      this.#child = undefined;
      throw new Error(`${run.words.join(" ")} failed in the shared process.`, { cause });
    } finally {
      child.off("exit", onExit);
      // Waiting for the next run keeps neither process alive.
      child.channel?.unref();
      child.unref();
    }
  }
}
