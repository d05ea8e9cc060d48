import { hash } from "node:crypto";
import { type ErrorCode, KeyrootError, TransportError, VerificationError } from "keyroot/errors";
import { type FileSource, readFileOf } from "./fileSource.ts";
import { finding } from "./finding.ts";
import { judgeFile, type JudgedFile } from "./judgeFile.ts";

/** A file to read and judge. */
export interface FileQuestion {
  /** 64 hex digits in lower case. */
  root: string;
  /** SHA-256 of the bytes that were judged before, and found good, in hex. */
  judged?: string | undefined;
}

/** What came of reading and judging a file. */
export type FileAnswer =
  /** It was judged: `users` is undefined where it is missing or none of this root. */
  | (JudgedFile & { kind: "judged"; sha256: string | undefined })
  /** Its bytes are those that were judged before. */
  | { kind: "unchanged" }
  /** Its host did not answer: nothing is known. */
  | { kind: "unanswered"; code: ErrorCode; message: string };

/** Reads a root's file and judges it, unless it is known. */
export async function checkFile({ root, judged }: FileQuestion, source: FileSource): Promise<FileAnswer> {
  let bytes: Uint8Array;
  try {
    bytes = await readFileOf(root, source);
  } catch (error) {
    if (!(error instanceof KeyrootError)) throw error;
    const { code, message } = error;
    if (error instanceof TransportError) return { kind: "unanswered", code, message };
    if (!(error instanceof VerificationError)) throw error;
    return {
      kind: "judged",
      sha256: undefined,
      users: undefined,
      findings: [finding("FILE_MISSING", message, { root })],
    };
  }
  const sha256 = hash("sha256", bytes);
  if (sha256 === judged) return { kind: "unchanged" };
  return { kind: "judged", sha256, ...judgeFile(bytes, root) };
}
