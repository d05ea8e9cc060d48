import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Statement } from "keyroot/auditors";
import {
  cosignedMessage,
  hashRoots,
  MAX_AUDITOR_LIST_BYTES,
  MAX_ROOTS_BYTES,
  MAX_STATEMENT_BYTES,
  parseRoots,
  parseSignedAuditorList,
  parseSignedStatement,
  type RootEntry,
  serializeRootEntry,
  serializeRoots,
  serializeSignedNote,
  serializeStatement,
  type SignedAuditorList,
  type SignedStatement,
} from "keyroot/auditors/protocol";
import { makeFolder } from "../../disk/folder.ts";
import { readIfExists } from "../../disk/ifExists.ts";
import { writeFileAtomic } from "../../disk/writeFileAtomic.ts";
import { TransportError, VerificationError } from "../../errors.ts";
import type { AuditorSigner } from "./auditorKeyFile.ts";
import { writeRootProofs } from "./rootProofFiles.ts";

/**
 * Information about the source of a signed statement. The auditor publishes this information with the statement, but
 * does not sign it, because auditors use different sources.
 */
export interface StatementSource {
  /** A description of the source of the chain's data. */
  source: string;
  /** Keccak-256 of the contract's code: 0x and 64 lowercase hex digits. */
  codeHash: string;
}

/**
 * An auditor's folder of statements, which a web server publishes. The folder contains `latest.txt`, `<block>.txt`,
 * `<block>.json`, `roots.txt`, the proofs of roots and `auditors-<n>.txt`.
 */
export class StatementFolder {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /**
   * Returns the newest statement and the statement's roots, or undefined.
   * @throws VerificationError the errors of `parseSignedStatement`
   */
  async latest(): Promise<{ signed: SignedStatement; roots: RootEntry[] } | undefined> {
    const signed = await this.read("latest");
    if (signed === undefined) return undefined;
    const bytes = await this.#readBytes("roots.txt", MAX_ROOTS_BYTES);
    return { signed, roots: parseRoots(bytes ?? new Uint8Array(), signed.statement.tree) };
  }

  /** Reads a statement, or returns undefined if there is none. @param name `latest` or a block number */
  async read(name: string): Promise<SignedStatement | undefined> {
    const bytes = await this.#readBytes(`${name}.txt`, MAX_STATEMENT_BYTES);
    return bytes && parseSignedStatement(bytes);
  }

  /**
   * Signs the result of an audit, and writes the statement. The function never signs a statement that contradicts a
   * statement in the folder.
   * @param found the statement without a tree
   * @param roots all roots, in the chain's order
   * @param time in seconds since 1970
   * @throws VerificationError STATEMENT_CONFLICT; TransportError FILE_UNWRITABLE
   */
  async sign(
    found: Omit<Statement, "tree">,
    roots: readonly RootEntry[],
    signer: AuditorSigner,
    source: StatementSource,
    time: number,
  ): Promise<Statement> {
    const statement = { ...found, tree: { size: roots.length, hash: hashRoots(roots.map(serializeRootEntry)) } };
    const text = serializeStatement(statement);
    const latest = await this.latest();
    if (latest !== undefined) checkExtends(latest.signed.statement, roots, text);
    const { number } = statement.block;
    const same = await this.read(String(number));
    if (same !== undefined && same.text !== text) throw conflict(same.text, text);
    const { key } = signer;
    const others = same?.cosignatures.filter(({ keyID, name }) => keyID !== key.id || name !== key.name) ?? [];
    const own = { name: key.name, keyID: key.id, time, signature: signer.sign(cosignedMessage(text, time)) };
    const file = serializeSignedNote({ text, cosignatures: [own, ...others] });
    const note = { auditor: key.text, block: statement.block, ...source, signedAt: time };
    await makeFolder(this.#dir);
    await this.#write("roots.txt", serializeRoots(roots));
    await writeRootProofs(this.#dir, roots, { number, knownSize: latest?.signed.statement.tree.size ?? 0 });
    await this.#write(`${number}.json`, `${JSON.stringify(note, null, 2)}\n`);
    await this.#write(`${number}.txt`, file);
    await this.#write("latest.txt", file);
    return statement;
  }

  async readList(sequence: number): Promise<SignedAuditorList | undefined> {
    const bytes = await this.#readBytes(`auditors-${sequence}.txt`, MAX_AUDITOR_LIST_BYTES);
    return bytes && parseSignedAuditorList(bytes);
  }

  /** Writes a list of auditors. @returns the path of the file */
  async writeList(signed: SignedAuditorList): Promise<string> {
    const name = `auditors-${signed.list.sequence}.txt`;
    await makeFolder(this.#dir);
    await this.#write(name, serializeSignedNote(signed));
    return join(this.#dir, name);
  }

  /** Adds signatures to a statement in the folder. @returns the number of added signatures */
  async merge({ statement, text, cosignatures }: SignedStatement): Promise<number> {
    const number = String(statement.block.number);
    const known = await this.read(number);
    if (known?.text !== text) return 0;
    const keyOf = ({ name, keyID }: { name: string; keyID: string }) => `${name} ${keyID}`;
    const names = new Set(known.cosignatures.map(keyOf));
    const added = cosignatures.filter((one) => !names.has(keyOf(one)));
    if (added.length === 0) return 0;
    const file = serializeSignedNote({ text, cosignatures: [...known.cosignatures, ...added] });
    await this.#write(`${number}.txt`, file);
    if ((await this.read("latest"))?.text === text) await this.#write("latest.txt", file);
    return added.length;
  }

  /** Writes a public file, which all accounts may read. */
  #write(name: string, content: string): Promise<void> {
    return writeFileAtomic(join(this.#dir, name), content, 0o644);
  }

  async #readBytes(name: string, maxBytes: number): Promise<Uint8Array | undefined> {
    const path = join(this.#dir, name);
    const bytes = await readIfExists(path, readFile(path));
    if (bytes === undefined || bytes.length <= maxBytes) return bytes && new Uint8Array(bytes);
    throw new TransportError("FILE_UNREADABLE", `${path} has more than the maximum of ${maxBytes} bytes.`);
  }
}

/**
 * Checks that a new statement's roots begin with the roots of the last statement.
 * @throws VerificationError STATEMENT_CONFLICT
 */
function checkExtends(last: Statement, roots: readonly RootEntry[], text: string): void {
  const { size, hash } = last.tree;
  const isSamePlace = text.startsWith(originOf(serializeStatement(last)));
  const start = roots.slice(0, size).map(serializeRootEntry);
  if (isSamePlace && start.length === size && hashRoots(start) === hash) return;
  throw conflict(serializeStatement(last), text);
}

function originOf(text: string): string {
  return text.slice(0, text.indexOf("\n") + 1);
}

function conflict(expected: string, actual: string): VerificationError {
  const message =
    "This audit contradicts a statement in the folder. Nothing was signed. The contract never changes a root, so one of the two is wrong. Find out which one.";
  return new VerificationError("anchor", "STATEMENT_CONFLICT", message, { expected, actual });
}
