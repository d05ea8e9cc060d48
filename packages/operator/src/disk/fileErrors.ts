import { ArgumentError, TransportError } from "../errors.ts";

/** The error for a file or folder that cannot be read. @param cause the system's error */
export function cannotRead(path: string, cause: unknown): TransportError {
  return new TransportError("FILE_UNREADABLE", `Cannot read ${path}: ${(cause as Error).message}.`, { cause });
}

/** The error for a file that cannot be written. @param cause the system's error */
export function cannotWrite(path: string, cause: unknown): TransportError {
  return new TransportError("FILE_UNWRITABLE", `Cannot write ${path}: ${(cause as Error).message}.`, { cause });
}

/** The error for a file that the user has named, and that cannot be read. @param cause the system's error */
export function unreadableInput(path: string, cause: unknown): ArgumentError {
  return new ArgumentError("FILE_UNREADABLE", `${path} cannot be read: ${(cause as Error).message}.`, { cause });
}
