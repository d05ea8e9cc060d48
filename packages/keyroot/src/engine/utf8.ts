/**
 * Matches surrogates without a partner, which UTF-8 cannot encode. Complete surrogate pairs do not match, because the
 * flag u treats each pair as one character.
 */
const LONE_SURROGATES = /[\ud800-\udfff]/gu;

/** Checks that a text contains only complete surrogate pairs. UTF-8 cannot encode a surrogate without a partner. */
export function isWellFormed(text: string): boolean {
  return text.search(LONE_SURROGATES) === -1;
}

/**
 * Encodes a text as UTF-8, for JavaScript engines without `TextEncoder`. A surrogate without a partner becomes U+FFFD.
 */
export function encodeUtf8(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  // Nearly every text is ASCII, for which this loop is ten times as fast as the general way below.
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 128) return encodeAnyText(text);
    bytes[i] = code;
  }
  return bytes;
}

function encodeAnyText(text: string): Uint8Array {
  const escaped = encodeURIComponent(text.replace(LONE_SURROGATES, "\ufffd"));
  const binary = escaped.replace(/%(..)/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/** Decodes UTF-8 and keeps a byte-order mark. @throws Error if the bytes are not UTF-8 */
export function decodeUtf8(bytes: Uint8Array): string {
  let decoder: TextDecoder | undefined;
  try {
    decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  } catch {
    // `TextDecoder` is missing, or does not support the `fatal` and `ignoreBOM` options.
  }
  // Some platforms ignore the `fatal` and `ignoreBOM` options.
  return decoder?.fatal && decoder.ignoreBOM ? decoder.decode(bytes) : portableDecodeUtf8(bytes);
}

/** The number of bytes per call of `String.fromCharCode`. Engines limit the number of arguments, some to 65,535. */
const CHUNK = 8192;

/**
 * Decodes UTF-8 without the platform's `TextDecoder`. It uses `decodeURIComponent`, which accepts only well-formed
 * UTF-8. Nearly every text is ASCII and needs no decoding. A regular expression checks this, because in engines without
 * a compiler, it is 20 times as fast as a loop over the bytes.
 */
export function portableDecodeUtf8(bytes: Uint8Array): string {
  let binary = "";
  for (let start = 0; start < bytes.length; start += CHUNK)
    binary += String.fromCharCode.apply(undefined, bytes.subarray(start, start + CHUNK) as unknown as number[]);
  const escaped = binary.replace(/[%\x80-\xff]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
  return escaped === binary ? binary : decodeURIComponent(escaped);
}
