/**
 * Stops a server and removes its folder when standard input ends, which happens when the process that started the
 * server ends or is killed. Command: `node reaper.ts <folder> <postmaster.pid>`
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { setTimeout } from "node:timers/promises";

/** Time in ms after which a server that does not stop is killed. */
const STOP_TIMEOUT_MS = 5_000;

const [, , folder = "", pidFile = ""] = process.argv;
if (import.meta.main) {
  process.stdin.resume().on("error", () => process.stdin.destroy());
  process.stdin.once("close", () => void stopAndRemove());
}

async function stopAndRemove(): Promise<void> {
  const started = Date.now();
  // A server removes its pid file last.
  signal("SIGQUIT");
  while (existsSync(pidFile)) {
    if (Date.now() - started > STOP_TIMEOUT_MS) {
      signal("SIGKILL");
      break;
    }
    await setTimeout(20);
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}

function signal(name: NodeJS.Signals): void {
  try {
    process.kill(Number.parseInt(readFileSync(pidFile, "utf8")), name);
  } catch {
    // The server has already ended.
  }
}
