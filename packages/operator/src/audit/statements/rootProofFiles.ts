import { readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { type RootEntry, RootProofs, subtreeOf } from "keyroot/auditors/protocol";
import { createFolders, syncFolder } from "../../disk/folder.ts";
import { writeFileAtomic, writeToDisk } from "../../disk/writeFileAtomic.ts";

/** The permissions of the files. All accounts may read the files, because the files are public. */
const MODE = 0o644;

/**
 * Writes proofs into a folder of statements. `roots/<root>.txt` is the proof of a root. `<number>-subtrees.txt`
 * contains the tops of the tree's subtrees. The function writes only proofs that are missing or become longer. On
 * average, it writes fewer than log2(roots) proofs per new root.
 * @param number the block number of the statement
 * @param knownSize the number of roots in the last statement
 */
export async function writeRootProofs(
  dir: string,
  roots: readonly RootEntry[],
  { number, knownSize }: { number: number; knownSize: number },
): Promise<void> {
  const proofs = new RootProofs(roots);
  const folder = join(dir, "roots");
  await createFolders(folder, 0o755);
  const present = new Set(await readdir(folder));
  const heightIn = (size: number, index: number) => (index < size ? subtreeOf(index, size)?.height : undefined);
  let isChanged = false;
  for (const [index, { root }] of roots.entries()) {
    const name = `${root}.txt`;
    if (present.has(name) && heightIn(knownSize, index) === heightIn(roots.length, index)) continue;
    isChanged = true;
    // Do not use `writeFileAtomic`, because it reads the folder on each call. For many files, these reads are too slow.
    const draft = join(folder, `.${name}`);
    await rm(draft, { force: true });
    await writeToDisk(draft, proofs.proofOf(index), MODE);
    await rename(draft, join(folder, name));
  }
  if (isChanged) await syncFolder(folder);
  await writeFileAtomic(join(dir, `${number}-subtrees.txt`), proofs.subtrees(), MODE);
}
