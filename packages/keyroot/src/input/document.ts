import { decodeUtf8 } from "../engine/utf8.ts";
import { ArgumentError, VerificationError, type VerificationStep } from "../errors.ts";
import { checkBuiltins } from "./builtins.ts";
import { parseJson } from "./json.ts";

/** The limits of a document from an untrusted source. */
export interface DocumentLimits {
  /** The maximum size in bytes. */
  maxBytes: number;
  /** The maximum nesting of objects and arrays. */
  maxDepth: number;
}

/**
 * Parses a JSON document in UTF-8 from an untrusted source. Returns any `source` that is not bytes as it is, because the
 * caller has parsed it already.
 * @param subject the name of the document, for error messages
 * @throws VerificationError FILE_TOO_LARGE, FILE_NOT_UTF8, and as `parseJson`, step "file"; ArgumentError BUILTIN_REPLACED
 */
export function parseDocument(subject: string, source: unknown, { maxBytes, maxDepth }: DocumentLimits): unknown {
  checkBuiltins();
  if (!(source instanceof Uint8Array)) return source;
  return parseDocumentText(subject, decodeDocument(subject, source, maxBytes), maxDepth);
}

/** Decodes a document in UTF-8. @throws VerificationError FILE_TOO_LARGE, FILE_NOT_UTF8, step "file" */
export function decodeDocument(subject: string, source: Uint8Array, maxBytes: number): string {
  if (source.length > maxBytes) {
    const message = `${subject} has ${source.length} bytes, but at most ${maxBytes} are allowed.`;
    throw new VerificationError("file", "FILE_TOO_LARGE", message, { expected: maxBytes, actual: source.length });
  }
  try {
    // Keeps a byte-order mark, which JSON does not allow: all readers must see the same text.
    return decodeUtf8(source);
  } catch (cause) {
    throw new VerificationError("file", "FILE_NOT_UTF8", `${subject} is not UTF-8.`, { cause });
  }
}

/** Parses a decoded document. @throws VerificationError as `parseJson`, step "file" */
export function parseDocumentText(subject: string, text: string, maxDepth: number): unknown {
  return checkUntrusted("file", subject, () => parseJson(text, maxDepth));
}

/**
 * Runs a check or parser on data from an untrusted source. Where it throws an ArgumentError, the data fails verification:
 * throws a VerificationError with the same code instead.
 * @param subject the name of the data, with which the message begins
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
