import { builtinModule } from "./builtinModule.ts";

const nodeBuffer = builtinModule("node:buffer")?.Buffer;

/** The two hex digits of each byte. */
const DIGITS: string[] = [];
for (let byte = 0; byte < 256; byte++) DIGITS.push((256 + byte).toString(16).slice(1));

/** Encodes bytes as lowercase hex in plain JavaScript. */
export const portableBytesToHex = (bytes: Uint8Array): string => {
  let hex = "";
  for (const byte of bytes) hex += DIGITS[byte] ?? "";
  return hex;
};

export const bytesToHex: (bytes: Uint8Array) => string = nodeBuffer
  ? (bytes) => nodeBuffer.from(bytes).toString("hex")
  : portableBytesToHex;

/** Decodes lowercase or uppercase hex in plain JavaScript. */
export const portableHexToBytes = (hex: string): Uint8Array => {
  const bytes = new Uint8Array(hex.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(hex.slice(2 * i, 2 * i + 2), 16);
  return bytes;
};

/**
 * Decodes lowercase or uppercase hex. Validate the text first, because the result for invalid text depends on the
 * platform.
 */
export const hexToBytes: (hex: string) => Uint8Array = nodeBuffer
  ? (hex) => new Uint8Array(nodeBuffer.from(hex, "hex"))
  : portableHexToBytes;
