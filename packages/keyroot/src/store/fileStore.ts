import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { TransportError } from "../errors.ts";
import type { Store } from "./store.ts";

/**
 * Makes a store in a folder. Each name has a file of its own, and only the user account that runs the process can read
 * these files. They are replaced atomically, so after a crash, each file has either its old or its new content.
 * @param folder the folder of the store, which is created if it is missing
 * @returns the store, whose functions throw TransportError STORE_UNAVAILABLE
 * @example
 * const store = fileStore("/var/lib/app/keyroot");
 */
export function fileStore(folder: string): Store {
  const pathOf = (name: string) => join(folder, createHash("sha256").update(name).digest("hex"));
  return {
    async get(name) {
      try {
        return await readFile(pathOf(name), "utf8");
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
        throw unavailable("read", folder, cause);
      }
    },
    async set(name, text) {
      const path = pathOf(name);
      const temporary = `${path}.${randomUUID()}`;
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await writeToDisk(temporary, text);
        await rename(temporary, path);
      } catch (cause) {
        // Report the error of the write even if the cleanup also fails.
        await rm(temporary, { force: true }).catch(() => undefined);
        throw unavailable("write to", folder, cause);
      }
    },
  };
}

async function writeToDisk(path: string, text: string): Promise<void> {
  await using file = await open(path, "wx", 0o600);
  await file.writeFile(text);
  await file.sync();
}

function unavailable(operation: string, folder: string, cause: unknown): TransportError {
  return new TransportError(
    "STORE_UNAVAILABLE",
    `Keyroot cannot ${operation} the store in ${folder}. Check the folder and its permissions.`,
    { cause },
  );
}
