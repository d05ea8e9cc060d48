import { decodeUtf8 } from "../engine/utf8.ts";
import { ArgumentError, VerificationError, type VerificationStep } from "../errors.ts";

/** Decodes a document in UTF-8. @throws VerificationError FILE_TOO_LARGE, FILE_NOT_UTF8, step "file" */
export function decodeDocument(subject: string, source: Uint8Array, maxBytes: number): string {
  if (source.length > maxBytes) {
    const message = `${subject} has ${source.length} bytes, but at most ${maxBytes} are allowed.`;
    throw new VerificationError("file", "FILE_TOO_LARGE", message, { expected: maxBytes, actual: source.length });
  }
  try {
    // `decodeUtf8` keeps a byte-order mark, which the JSON parser rejects, so all readers get the same text.
    return decodeUtf8(source);
  } catch (cause) {
    throw new VerificationError("file", "FILE_NOT_UTF8", `${subject} is not UTF-8.`, { cause });
  }
}

/**
 * Runs a check or a parser on untrusted data. If it throws an ArgumentError, the error becomes a VerificationError with
 * the same code, because invalid data means that the verification failed.
 * @param subject the name of the data, for error messages
 */
export function checkUntrusted<T>(step: VerificationStep, subject: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    const { code, message, expected, actual } = error;
    throw new VerificationError<string>(step, code, `${subject}: ${message}`, { expected, actual, cause: error });
  }
}
