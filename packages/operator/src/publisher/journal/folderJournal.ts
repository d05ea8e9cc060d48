import { open, readFile, rename, rm, truncate } from "node:fs/promises";
import { join } from "node:path";
import { lockFolder } from "../../disk/lockFolder.ts";
import { removeDrafts, syncFolder, withDraft } from "../../disk/writeWhole.ts";
import { ArgumentError, KeyrootError, TransportError, VerificationError } from "keyroot/errors";
import type { Fees } from "../chain/fees.ts";
import { parsePlan, type Plan, serializePlan } from "../plan/plan.ts";

/** A transaction that was about to be sent: the nonce is this root's until it is used up. */
export interface Attempt {
  nonce: number;
  /** 64 hex digits in lower case. */
  root: string;
  gas: number;
  fees: Fees;
}

/** Where a publisher keeps what it must not forget between a crash and the next run. Chain and store know the rest. */
export interface Journal {
  /** The plan that is not finished. */
  readPlan(): Promise<Plan | undefined>;
  writePlan(plan: Plan): Promise<void>;
  /** Notes a transaction before it is sent. */
  recordAttempt(attempt: Attempt): Promise<void>;
  /** All that was noted since the plan was written. */
  attempts(): readonly Attempt[];
  /** Forgets the plan, which is done. */
  finish(): Promise<void>;
}

/** Keeps a plan for as long as the process lives: enough for a chain that ends with it. */
export class MemoryJournal implements Journal {
  #plan: Plan | undefined;
  #attempts: Attempt[] = [];

  async readPlan(): Promise<Plan | undefined> {
    return Promise.resolve(this.#plan);
  }
  async writePlan(plan: Plan): Promise<void> {
    this.#plan = plan;
    return Promise.resolve();
  }
  async recordAttempt(attempt: Attempt): Promise<void> {
    this.#attempts.push(attempt);
    return Promise.resolve();
  }
  attempts(): readonly Attempt[] {
    return this.#attempts;
  }
  async finish(): Promise<void> {
    this.#plan = undefined;
    this.#attempts = [];
    return Promise.resolve();
  }
}

/** Keeps a plan in a folder, for one publisher at a time. */
export class FolderJournal implements Journal, Disposable {
  readonly #dir: string;
  readonly #lock: Disposable;
  #attempts: Attempt[];

  private constructor(dir: string, lock: Disposable, attempts: Attempt[]) {
    this.#dir = dir;
    this.#lock = lock;
    this.#attempts = attempts;
  }

  /**
   * Opens a folder, which is made when it is missing, and keeps others out of it.
   * @throws ArgumentError PUBLISHER_RUNNING; TransportError FILE_UNWRITABLE; VerificationError PLAN_INVALID
   */
  static async open(dir: string): Promise<FolderJournal> {
    const lock = await lockFolder(dir);
    if (lock === undefined) {
      const message = `Another publisher is at work on the plan in ${dir}: let it finish, or end it.`;
      throw new ArgumentError("PUBLISHER_RUNNING", message, { actual: dir });
    }
    try {
      // Nobody else writes here now: a draft is what a killed publisher has left.
      await writing(dir, () => removeDrafts(dir, (name) => name === PLAN));
      return new FolderJournal(dir, lock, await readAttempts(join(dir, ATTEMPTS)));
    } catch (error) {
      lock[Symbol.dispose]();
      throw error;
    }
  }

  async readPlan(): Promise<Plan | undefined> {
    const bytes = await readIfThere(this.#pathOf(PLAN));
    return bytes && parsePlan(bytes);
  }

  async writePlan(plan: Plan): Promise<void> {
    const path = this.#pathOf(PLAN);
    await this.#forgetAttempts();
    await writing(path, () =>
      withDraft(path, async (draft) => {
        await using file = await open(draft, "wx");
        for (const line of serializePlan(plan)) await file.writeFile(line);
        await file.sync();
        await rename(draft, path);
        await syncFolder(this.#dir);
      }),
    );
  }

  async recordAttempt(attempt: Attempt): Promise<void> {
    const path = this.#pathOf(ATTEMPTS);
    await writing(path, async () => {
      await using file = await open(path, "a");
      await file.writeFile(`${serializeAttempt(attempt)}\n`);
      await file.datasync();
    });
    this.#attempts.push(attempt);
  }

  attempts(): readonly Attempt[] {
    return this.#attempts;
  }

  async finish(): Promise<void> {
    // The plan first: what was noted means nothing without it.
    const path = this.#pathOf(PLAN);
    await writing(path, () => rm(path, { force: true }));
    await this.#forgetAttempts();
  }

  [Symbol.dispose](): void {
    this.#lock[Symbol.dispose]();
  }

  async #forgetAttempts(): Promise<void> {
    const path = this.#pathOf(ATTEMPTS);
    await writing(path, () => rm(path, { force: true }));
    this.#attempts = [];
  }

  #pathOf(name: string): string {
    return join(this.#dir, name);
  }
}

const PLAN = "plan.jsonl";
const ATTEMPTS = "sent.jsonl";

/** An attempt as a line of JSON. */
export function serializeAttempt({ nonce, root, gas, fees }: Attempt): string {
  const texts = Object.entries(fees).map(([name, wei]) => [name, String(wei)]);
  return JSON.stringify({ nonce, root, gas, fees: Object.fromEntries(texts) as unknown });
}

/** What was noted; a line that a crash cut off is taken away, since no transaction followed it. */
async function readAttempts(path: string): Promise<Attempt[]> {
  const bytes = Buffer.from((await readIfThere(path)) ?? "");
  const whole = bytes.lastIndexOf("\n") + 1;
  if (whole < bytes.length) await writing(path, () => truncate(path, whole));
  return bytes.toString("latin1", 0, whole).split("\n").slice(0, -1).map(parseAttempt);
}

/** @throws VerificationError PLAN_INVALID */
export function parseAttempt(line: string): Attempt {
  try {
    const { nonce, root, gas, fees } = JSON.parse(line) as Record<"nonce" | "root" | "gas", unknown> & {
      fees: Record<string, string>;
    };
    const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = fees;
    if (!Number.isSafeInteger(nonce) || !Number.isSafeInteger(gas) || !/^[0-9a-f]{64}$/.test(String(root))) {
      throw new Error("not an attempt");
    }
    return {
      nonce: nonce as number,
      root: root as string,
      gas: gas as number,
      fees:
        gasPrice === undefined
          ? { maxFeePerGas: BigInt(String(maxFeePerGas)), maxPriorityFeePerGas: BigInt(String(maxPriorityFeePerGas)) }
          : { gasPrice: BigInt(gasPrice) },
    };
  } catch (cause) {
    const message = `${ATTEMPTS} of the plan is damaged. Where nothing of the owner's waits for a block, delete it.`;
    throw new VerificationError("file", "PLAN_INVALID", message, { cause });
  }
}

async function readIfThere(path: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new ArgumentError("FILE_UNREADABLE", `${path} cannot be read: ${(cause as Error).message}.`, { cause });
  }
}

async function writing<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof KeyrootError) throw cause;
    throw new TransportError("FILE_UNWRITABLE", `${path} cannot be written: ${(cause as Error).message}.`, { cause });
  }
}
