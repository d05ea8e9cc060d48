/** A process that locks folders for the tests of `lockFolder`. */
import { lockFolder } from "../../../packages/operator/src/disk/lock.ts";

export interface LockOrder {
  /** The folder to lock; undefined only releases the one before. */
  dir?: string;
  /** When to lock it, in ms since 1970. */
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
