/** A process that takes folders for itself, as the tests of `lockFolder` tell it. */
import { lockFolder } from "../../packages/operator/src/disk/lock.ts";

export interface LockOrder {
  /** The folder to take; without one, it gives back what it has. */
  dir?: string;
  /** When to take it, in ms since 1970: not a moment earlier. */
  at?: number;
}

if (import.meta.main) {
  let lock: Disposable | undefined;
  process.on("message", ({ dir, at = 0 }: LockOrder) => {
    lock?.[Symbol.dispose]();
    lock = undefined;
    // A timer would not be so exact.
    while (Date.now() < at);
    void (async () => {
      if (dir !== undefined) lock = await lockFolder(dir);
      process.send?.(lock !== undefined);
    })();
  });
  process.once("disconnect", () => process.exit());
}
