/**
 * Tidies up after a server: once its standard input ends, because whoever started it is done or dead, it stops the server
 * and removes its folder. `node keeper.ts <folder> <postmaster.pid>`
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { setTimeout } from "node:timers/promises";

/** How long the server may take to stop, in ms, before it is killed. */
const PATIENCE = 5_000;

const [, , folder = "", pidFile = ""] = process.argv;
if (import.meta.main) {
  process.stdin.resume().on("error", () => process.stdin.destroy());
  process.stdin.once("close", () => void tidyUp());
}

async function tidyUp(): Promise<void> {
  const started = Date.now();
  // The server removes the file as the last thing that it does.
  signal("SIGQUIT");
  while (existsSync(pidFile)) {
    if (Date.now() - started > PATIENCE) {
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
    // It is gone.
  }
}
