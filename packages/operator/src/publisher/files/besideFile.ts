import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import { type MerkleFile, serializeMerkleFile } from "keyroot/internal/merkle";

/**
 * The objects to store beside each Merkle-tree file. They are computed from it, and clients verify every byte of them.
 */
export interface BesideFileOptions {
  /** Stores a Brotli-compressed copy `<root>.json.br`, which has about 1/3 of the file's size. Default: false. */
  brotli?: boolean | undefined;
}

/** An object to store beside a Merkle-tree file. */
export interface BesideFile {
  /** The path of the object in the folder of the files. */
  name: string;
  bytes: Uint8Array;
  contentType: string;
  contentEncoding?: "br";
}

/** The quality of the Brotli compression. The best quality would take 50 times as long and save 7% of the size. */
const BROTLI_QUALITY = 5;

const compress = promisify(brotliCompress);

/** Creates the objects beside a file that the options request. */
export async function besideFile(file: MerkleFile, { brotli }: BesideFileOptions): Promise<BesideFile[]> {
  if (!brotli) return [];
  const text = Buffer.from([...serializeMerkleFile(file)].join(""), "latin1");
  const bytes = await compress(text, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
  return [{ name: `${file.tree.root}.json.br`, bytes, contentType: "application/json", contentEncoding: "br" }];
}
