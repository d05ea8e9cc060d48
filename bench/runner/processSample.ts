import { readFileSync } from "node:fs";

/** The number of ticks in a second. Linux counts CPU time in hundredths of a second (USER_HZ). */
const TICKS_PER_SECOND = 100;

/** The processor time and the peak memory of a process so far. */
export interface ProcessSample {
  cpuSeconds: number;
  /** The peak of resident memory in MB, or 0 if the process has ended. */
  residentMB: number;
}

/** Reads a sample of a running process from /proc, which only Linux has. */
export function sampleOf(pid: number): ProcessSample {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name, which is the second field, is in brackets. The rest of the text starts with the third field. Fields 14
  // and 15 are the user time and the system time.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
    residentMB: Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024,
  };
}
