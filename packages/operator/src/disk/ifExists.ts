import { cannotRead } from "./fileErrors.ts";

/**
 * Returns the result of a file operation, or undefined if the file or folder does not exist.
 * @throws other system errors
 */
export async function ifExists<T>(operation: Promise<T>): Promise<T | undefined> {
  try {
    return await operation;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Returns the result of a read, or undefined if the file does not exist. @throws TransportError FILE_UNREADABLE */
export function readIfExists<T>(path: string, read: Promise<T>): Promise<T | undefined> {
  return ifExists(read).catch((cause: unknown) => {
    throw cannotRead(path, cause);
  });
}
