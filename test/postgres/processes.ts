import { execFileSync } from "node:child_process";

/** The ids of a process's children. */
export function childrenOf(pid: number): number[] {
  return runningProcesses().flatMap((process) => (process.parent === pid ? [process.pid] : []));
}

/** Those of the processes that are still there. */
export function runningOf(pids: readonly number[]): number[] {
  return runningProcesses().flatMap(({ pid }) => (pids.includes(pid) ? [pid] : []));
}

/** Every process of this machine. The dead that nobody has asked for their exit code yet do not count. */
function runningProcesses(): { pid: number; parent: number }[] {
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat="], { encoding: "utf8" }).trim().split("\n");
  return lines.flatMap((line) => {
    const [pid, parent, state = ""] = line.trim().split(/\s+/);
    return state.startsWith("Z") ? [] : [{ pid: Number(pid), parent: Number(parent) }];
  });
}
