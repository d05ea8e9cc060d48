import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { ENDLESS_MS } from "../endless.ts";

const PAUSE_MS = 50;

/**
 * Waits until a server responds to GET with status 200. Until then, connections may fail and other statuses are
 * ignored.
 * @param server the server's process. The wait fails if this process ends
 */
export async function untilReady(url: string, server?: ChildProcess): Promise<void> {
  let last: unknown;
  for (const end = Date.now() + ENDLESS_MS; Date.now() < end;) {
    if (server !== undefined && (server.exitCode !== null || server.signalCode !== null))
      throw new Error(`${server.spawnfile} ended before it was ready.`);
    try {
      const response = await fetch(url);
      await response.body?.cancel();
      if (response.status === 200) return;
      last = `status ${response.status}`;
    } catch (error) {
      last = error;
    }
    await sleep(PAUSE_MS);
  }
  throw new Error(`${url} did not become ready.`, { cause: last });
}
