import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import { makeLeafChunks, type MerkleFile, serializeMerkleFile } from "keyroot/merkle";

/**
 * The objects to store beside each Merkle-tree file. The store computes the objects from the file, and clients verify
 * every byte of the objects.
 */
export interface BesideFileOptions {
  /**
   * Stores leaf chunks `<root>/<number>.bin` for short proofs. A file of 700 users has 32 chunks of 1 kB each. Default: false.
   */
  proofs?: boolean | undefined;
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

/** Makes the objects beside a file that the options request. */
export async function besideFile(file: MerkleFile, { proofs, brotli }: BesideFileOptions): Promise<BesideFile[]> {
  const { root } = file.tree;
  const chunks = proofs ? [...makeLeafChunks(file)] : [];
  const objects: BesideFile[] = chunks.map(({ number, bytes }) => {
    return { name: `${root}/${number}.bin`, bytes, contentType: "application/octet-stream" };
  });
  if (brotli) {
    const text = Buffer.from([...serializeMerkleFile(file)].join(""), "latin1");
    const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
    const bytes = await compress(text, { params });
    objects.push({ name: `${root}.json.br`, bytes, contentType: "application/json", contentEncoding: "br" });
  }
  return objects;
}
