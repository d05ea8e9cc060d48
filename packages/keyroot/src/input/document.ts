import { parseJson } from "./parseJson.ts";
import { checkUntrusted, decodeDocument } from "./untrusted.ts";
import { isBytes } from "./values.ts";

/**
 * Parses an untrusted JSON document in UTF-8. If `source` is not a `Uint8Array`, it counts as parsed already and is
 * returned unchanged.
 * @param subject the name of the document, for error messages
 * @param limits `maxDepth` is the maximum nesting depth of objects and arrays
 * @throws VerificationError FILE_TOO_LARGE, FILE_NOT_UTF8, or an error of `parseJson`, step "file"
 */
export function parseDocument(
  subject: string,
  source: unknown,
  limits: { maxBytes: number; maxDepth: number },
): unknown {
  if (!isBytes(source)) return source;
  const text = decodeDocument(subject, source, limits.maxBytes);
  return checkUntrusted("file", subject, () => parseJson(text, limits.maxDepth));
}
