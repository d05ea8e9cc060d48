import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import { type MerkleFile, serializeMerkleFile } from "keyroot/internal/merkle";

/**
 * The objects to store beside each Merkle-tree file. They are computed from the file, and clients verify every byte of
 * them.
 */
export interface BesideFileOptions {
  /** Stores a Brotli-compressed copy `<root>.json.br`, which has about 1/3 of the file's size. Default: false. */
  brotli?: boolean | undefined;
}

/** An object in the folder of the files. */
export interface StoredObject {
  name: string;
  bytes: Uint8Array;
  contentType: string;
  contentEncoding?: "br";
}

/**
 * The quality of the Brotli compression. With the best quality, compression takes 50 times as long, and a file is only
 * 7% smaller.
 */
const BROTLI_QUALITY = 5;

const compress = promisify(brotliCompress);

/** Serializes a file. Files are ASCII, and encoding them as Latin-1 takes half the time of UTF-8. */
export function bytesOf(file: MerkleFile): Buffer {
  return Buffer.from([...serializeMerkleFile(file)].join(""), "latin1");
}

/** Creates the object beside a file, if the options request it. */
export async function besideFile(file: MerkleFile, { brotli }: BesideFileOptions): Promise<StoredObject | undefined> {
  if (!brotli) return undefined;
  const bytes = await compress(bytesOf(file), { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
  return { name: `${file.tree.root}.json.br`, bytes, contentType: "application/json", contentEncoding: "br" };
}
