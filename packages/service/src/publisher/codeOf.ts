import { KeyrootError } from "keyroot/internal/errors";

/** Returns an error's code. UNEXPECTED stands for errors without a code. */
export function codeOf(error: unknown): string {
  return error instanceof KeyrootError ? error.code : "UNEXPECTED";
}
