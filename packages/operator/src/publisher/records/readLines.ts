import { open } from "node:fs/promises";
import type { Readable } from "node:stream";
import { KeyrootError } from "keyroot/internal/errors";
import { unreadableInput } from "../../disk/fileErrors.ts";
import { ArgumentError } from "../../errors.ts";

/** A stream that counts the bytes read, from a file, a pipe or a socket. */
export type ByteStream = Readable & { readonly bytesRead: number };

export type OnRead = (bytesRead: number, bytes: number) => void;

/** The maximum number of characters in a line. A record has about 250. */
export const MAX_LINE_LENGTH = 4096;

/**
 * Yields the lines of a file or a stream, in groups.
 * @param onRead receives the number of bytes read so far, and the size of the file in bytes
 * @throws ArgumentError FILE_UNREADABLE, or RECORD_INVALID for text in UTF-16
 */
export async function* readLines(source: string | ByteStream, onRead: OnRead): AsyncGenerator<string[]> {
  try {
    if (typeof source === "string") {
      await using file = await open(source);
      const { size } = await file.stat();
      yield* splitLines(file.createReadStream(), size, onRead);
    } else {
      yield* splitLines(source, 0, onRead);
    }
  } catch (cause) {
    if (cause instanceof KeyrootError || (cause as NodeJS.ErrnoException).code === undefined) throw cause;
    throw unreadableInput(typeof source === "string" ? source : "Standard input", cause);
  }
}

/**
 * Yields lines in groups, because yielding single lines would take twice as long.
 * @param size the size of the file in bytes, or 0 for a pipe
 */
async function* splitLines(stream: ByteStream, size: number, onRead: OnRead): AsyncGenerator<string[]> {
  stream.setEncoding("utf8");
  let first = true;
  let rest = "";
  for await (const chunk of stream as AsyncIterable<string>) {
    // The byte order mark of UTF-16 is invalid in UTF-8, and its ASCII characters contain a zero byte each.
    if (first && /^\ufffd\ufffd.\0|^\ufffd\ufffd\0.|^(?:[^\0]\0){4}|^(?:\0[^\0]){4}/.test(chunk)) throw utf16();
    const texts = (first ? chunk.replace(/^\ufeff/, "") : chunk).split(/\r?\n/);
    first = false;
    texts[0] = rest + (texts[0] ?? "");
    // To save memory, cut a line that is too long. It still is too long after the cut.
    rest = (texts.pop() ?? "").slice(0, MAX_LINE_LENGTH + 1);
    yield texts;
    onRead(stream.bytesRead, Math.max(stream.bytesRead, size));
  }
  yield [rest];
}

function utf16(): ArgumentError {
  const message = "The file has the encoding UTF-16. Save it as UTF-8, such as 'CSV UTF-8' in spreadsheet programs.";
  return new ArgumentError("RECORD_INVALID", message);
}
