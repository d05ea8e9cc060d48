/** A process that locks folders for the tests of `lockFolder`. */
import { lockFolder } from "../../../packages/operator/src/disk/lock.ts";

export interface LockOrder {
  /** The folder to lock. Undefined only releases the previous folder. */
  dir?: string;
  /** The time at which to lock the folder, in ms since 1970. */
  at?: number;
}

if (import.meta.main) {
  let lock: Disposable | undefined;
  process.on("message", ({ dir, at = 0 }: LockOrder) => {
    lock?.[Symbol.dispose]();
    lock = undefined;
    // A timer would be less exact.
    while (Date.now() < at);
    void (async () => {
      if (dir !== undefined) lock = await lockFolder(dir);
      process.send?.(lock !== undefined);
    })();
  });
  process.once("disconnect", () => process.exit());
}
