import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Statement } from "keyroot/auditors";
import {
  MAX_STATEMENT_BYTES,
  parseSignedStatement,
  serializeSignedNote,
  serializeStatement,
  type SignedStatement,
} from "keyroot/internal/auditors";
import { makeFolder } from "../../disk/folder.ts";
import { readIfExists } from "../../disk/fileErrors.ts";
import { writeFileAtomic } from "../../disk/writeFileAtomic.ts";
import { TransportError, VerificationError } from "../../errors.ts";
import type { AuditorSigner } from "./auditorKeyFile.ts";

/**
 * An auditor's folder of statements, which a web server publishes. It contains `latest.txt`, `<block>.txt` and
 * `<block>.json`.
 */
export class StatementFolder {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /**
   * Reads a statement, or returns undefined if there is none.
   * @param name `latest` or a block number
   * @throws VerificationError the errors of `parseSignedStatement`
   */
  async read(name: string): Promise<SignedStatement | undefined> {
    const path = join(this.#dir, `${name}.txt`);
    const bytes = await readIfExists(path, readFile(path));
    if (bytes === undefined || bytes.length <= MAX_STATEMENT_BYTES) return bytes && parseSignedStatement(bytes);
    throw new TransportError("FILE_UNREADABLE", `${path} has more than the maximum of ${MAX_STATEMENT_BYTES} bytes.`);
  }

  /**
   * Signs a statement and writes its files. A statement that contradicts one in the folder is never signed. A statement
   * replaces an earlier one for the same block if only their damaged roots differ.
   * @param source where the data of the chain came from. It is published but not signed, because each auditor uses a
   *   different source
   * @throws VerificationError STATEMENT_CONFLICT; TransportError FILE_UNWRITABLE
   */
  async sign(statement: Statement, { key, sign }: AuditorSigner, source: string): Promise<void> {
    const text = serializeStatement(statement);
    const { block } = statement;
    const [latest, same] = [await this.read("latest"), await this.read(String(block.number))];
    for (const earlier of [latest, same])
      if (earlier !== undefined && contradicts(earlier.statement, statement)) throw conflict(earlier.text, text);
    const known = same?.text === text ? same.signatures : [];
    const others = known.filter(({ keyID, name }) => keyID !== key.id || name !== key.name);
    const own = { name: key.name, keyID: key.id, signature: sign(Buffer.from(text)) };
    const file = serializeSignedNote({ text, signatures: [own, ...others] });
    const note = { auditor: key.text, block, source, signedAt: Math.floor(Date.now() / 1000) };
    await makeFolder(this.#dir);
    await this.#write(`${block.number}.json`, `${JSON.stringify(note, null, 2)}\n`);
    await this.#write(`${block.number}.txt`, file);
    if (!(block.number < (latest?.statement.block.number ?? 0))) await this.#write("latest.txt", file);
  }

  /** Adds signatures to a statement in the folder. @returns the number of added signatures */
  async merge({ statement, text, signatures }: SignedStatement): Promise<number> {
    const number = String(statement.block.number);
    const known = await this.read(number);
    if (known?.text !== text) return 0;
    const keyOf = ({ name, keyID }: { name: string; keyID: string }) => `${name} ${keyID}`;
    const names = new Set(known.signatures.map(keyOf));
    const added = signatures.filter((one) => !names.has(keyOf(one)));
    if (added.length === 0) return 0;
    const file = serializeSignedNote({ text, signatures: [...known.signatures, ...added] });
    await this.#write(`${number}.txt`, file);
    if ((await this.read("latest"))?.text === text) await this.#write("latest.txt", file);
    return added.length;
  }

  /** Writes a public file, which all accounts may read. */
  #write(name: string, content: string): Promise<void> {
    return writeFileAtomic(join(this.#dir, name), content, 0o644);
  }
}

function conflict(expected: string, actual: string): VerificationError {
  const message =
    "This audit contradicts a statement in the folder. Nothing was signed. One of the two is wrong. Find out which one.";
  return new VerificationError("anchor", "STATEMENT_CONFLICT", message, { expected, actual });
}

/**
 * Returns true if at least one of two statements must be false. A registry's code never changes, and its numbers of
 * users and roots never fall. Two statements for the same block may differ only in the damaged roots, because a host
 * can return a file to one auditor and withhold it from another.
 */
export function contradicts(one: Statement, other: Statement): boolean {
  const [older, newer] = one.block.number <= other.block.number ? [one, other] : [other, one];
  if (older.chainId !== newer.chainId || older.contract !== newer.contract) return true;
  if (older.codeHash !== newer.codeHash) return true;
  const [a, b] = [numbersOf(older), numbersOf(newer)];
  if (older.block.number === newer.block.number)
    return older.block.hash !== newer.block.hash || String(a) !== String(b);
  return a.some((number, i) => number > (b[i] ?? 0));
}

function numbersOf({ block, userCount, rootCount }: Statement): readonly number[] {
  return [block.timestamp, userCount, rootCount];
}
