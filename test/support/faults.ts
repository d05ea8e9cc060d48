import { randomInt } from "node:crypto";
import { isLarge, testAll } from "./testSize.ts";

/**
 * The time limit of a fault test, in ms, where 0 means none. It ends only endless waits, even on a machine with other
 * load.
 */
export const FAULTS_TIMEOUT_MS = isLarge ? 0 : 1_200_000;

/** Seed of the reproducible fault tests, from the FAULTS_SEED variable. Default: a random number. */
export const SEED = Number(process.env["FAULTS_SEED"] ?? randomInt(1_000_000));
if (!Number.isSafeInteger(SEED))
  throw new RangeError("FAULTS_SEED is not a whole number. Set it to a number such as 2.");

/** Describes fault tests that are too slow for `npm test`. */
export const describeFaults = testAll || isLarge ? describe : describe.skip;

/**
 * Waits for a fault test. If it is a large one, prints its outcome and duration.
 * @throws Error with the seed and the cause if it fails
 */
export async function reported<T extends object>(running: Promise<T>): Promise<T> {
  const start = performance.now();
  const outcome = await running.catch((cause: unknown) => {
    throw new Error(`The test failed with FAULTS_SEED=${SEED}.`, { cause });
  });
  const seconds = Math.round((performance.now() - start) / 100) / 10;
  if (isLarge) process.stdout.write(`${JSON.stringify({ ...outcome, seconds, seed: SEED }, null, 2)}\n`);
  return outcome;
}
