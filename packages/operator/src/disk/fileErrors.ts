import { ArgumentError, TransportError } from "../errors.ts";

/**
 * Creates the error for a file or folder that cannot be read.
 * @param cause the system's error
 */
export function cannotRead(path: string, cause: unknown): TransportError {
  return new TransportError("FILE_UNREADABLE", `Cannot read ${path}: ${(cause as Error).message}.`, { cause });
}

/**
 * Creates the error for a file that cannot be written.
 * @param cause the system's error
 */
export function cannotWrite(path: string, cause: unknown): TransportError {
  return new TransportError("FILE_UNWRITABLE", `Cannot write ${path}: ${(cause as Error).message}.`, { cause });
}

/**
 * Creates the error for an unreadable file that an option or a variable names.
 * @param cause the system's error
 * @param variable the environment variable that contains the path
 */
export function unreadableInput(path: string, cause: unknown, variable?: string): ArgumentError {
  const remedy = variable === undefined ? "" : ` Check ${variable}.`;
  return new ArgumentError("FILE_UNREADABLE", `${path} cannot be read: ${(cause as Error).message}.${remedy}`, {
    cause,
  });
}

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
