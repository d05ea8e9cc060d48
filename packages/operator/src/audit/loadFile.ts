import { hash } from "node:crypto";
import { curve41417, type KeyType } from "keyroot/internal/identity";
import { KeyrootError, TransportError, VerificationError } from "keyroot/internal/errors";
import { auditFile, type FileAudit } from "./auditFile.ts";
import { type FileSource, readFileOf } from "../follow/index.ts";
import { finding } from "./finding.ts";

export interface FileRequest {
  /** The root of the file: 64 lowercase hex digits. */
  root: string;
  /**
   * The SHA-256 of the file (hex) from an earlier audit that found the file valid. If the file still has this SHA-256,
   * it is not audited again.
   */
  knownSha256?: string | undefined;
}

export type FileResult =
  /** The file was audited. `users` is undefined if the file is missing or does not match the root. */
  | (FileAudit & { kind: "audited"; sha256: string | undefined })
  /** The file's bytes have the known SHA-256. */
  | { kind: "unchanged" }
  /** The host or folder did not return the file. */
  | { kind: "unavailable"; code: string; message: string };

/** Reads a root's file, and audits the file unless its bytes have the known SHA-256. */
export async function loadFile(
  { root, knownSha256 }: FileRequest,
  source: FileSource,
  keyType: KeyType = curve41417,
): Promise<FileResult> {
  let bytes: Uint8Array;
  try {
    bytes = await readFileOf(root, source);
  } catch (error) {
    if (!(error instanceof KeyrootError)) throw error;
    const { code, message } = error;
    if (error instanceof TransportError) return { kind: "unavailable", code, message };
    if (!(error instanceof VerificationError)) throw error;
    const findings = [finding("FILE_MISSING", message, { root })];
    return { kind: "audited", sha256: undefined, users: undefined, findings };
  }
  const sha256 = hash("sha256", bytes);
  if (sha256 === knownSha256) return { kind: "unchanged" };
  return { kind: "audited", sha256, ...auditFile(bytes, root, keyType) };
}
