import { parseJson } from "./parseJson.ts";
import { checkUntrusted, decodeDocument } from "./untrusted.ts";
import { isBytes } from "./values.ts";

/** The size limits for a document from an untrusted source. */
export interface DocumentLimits {
  maxBytes: number;
  /** Maximum nesting depth of objects and arrays. */
  maxDepth: number;
}

/**
 * Parses an untrusted JSON document in UTF-8. If `source` is not bytes, the caller has already parsed the document, so
 * it is returned unchanged.
 * @param subject the name of the document, for error messages
 * @throws VerificationError FILE_TOO_LARGE, FILE_NOT_UTF8, or an error of `parseJson`, step "file"
 * @throws ArgumentError BUILTIN_REPLACED
 */
export function parseDocument(subject: string, source: unknown, { maxBytes, maxDepth }: DocumentLimits): unknown {
  if (!isBytes(source)) return source;
  const text = decodeDocument(subject, source, maxBytes);
  return checkUntrusted("file", subject, () => parseJson(text, maxDepth));
}
