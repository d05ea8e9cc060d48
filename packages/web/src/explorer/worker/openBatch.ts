import { parseMerkleFile } from "keyroot/merkle";
import { checkMerkleRoot } from "keyroot/internal/merkle";
import { loadKeyType } from "keyroot/internal/keyTypes";
import { DEFAULT_LIMITS, fetchMerkleFile } from "keyroot/internal/transport";
import type { Batch } from "./messages.ts";
import { type Handler, toFailure } from "./serveCalls.ts";

/** Fetches a root's file or uses a chosen file. Verifies that the file's tree has this root. */
export const openBatch: Handler<"openBatch"> = async ({ root, source, keyType = "curve41417" }, report, signal) => {
  const { fileBytes, timeoutMs } = DEFAULT_LIMITS;
  try {
    // The root comes from a link and becomes part of a URL.
    checkMerkleRoot(root);
    const limits = { maxBytes: fileBytes, timeoutMs, signal };
    const bytes = "bytes" in source ? source.bytes : await fetchMerkleFile(source.merkleUrl, root, limits);
    report({ kind: "received", bytes: bytes.length, at: performance.timeOrigin + performance.now() });
    const { records, tree } = parseMerkleFile(bytes, root, await loadKeyType(keyType));
    const batch: Batch = {
      root,
      bytes: bytes.length,
      userIDs: records.map(({ userID }) => userID).join(""),
      keyIDs: records.map(({ keyID }) => keyID).join(""),
      levels: Array.from({ length: tree.height }, (_, level) => hexToBytes(tree.hashes(level).join(""))),
    };
    return { batch };
  } catch (error) {
    return { failure: toFailure(error) };
  }
};

function hexToBytes(hex: string): Uint8Array {
  const bytes = new Uint8Array(hex.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = 16 * digit(hex, 2 * i) + digit(hex, 2 * i + 1);
  return bytes;
}

/** Returns the value of a lowercase hex digit. The calculation is faster than parsing a substring. */
function digit(hex: string, at: number): number {
  const code = hex.charCodeAt(at);
  return code - (code < 0x3a ? 0x30 : 0x57);
}
