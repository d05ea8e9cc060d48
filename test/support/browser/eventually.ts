import { setTimeout as sleep } from "node:timers/promises";
import { PAGE_MS } from "../endless.ts";

const PAUSE_MS = 50;

/**
 * Repeats an assertion about a page until it holds, because pages draw, load and move the focus some time after a
 * click.
 * @throws the last error of the assertion if it never holds
 */
export async function eventually(assertion: () => Promise<void> | void): Promise<void> {
  const end = Date.now() + PAGE_MS;
  for (;;) {
    try {
      await assertion();
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
    }
    await sleep(PAUSE_MS);
  }
}
