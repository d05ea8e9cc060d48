import { expect } from "chai";
import { mkdir, readdir, readFile, stat, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { hashRoots, type RootEntry, serializeRootEntry } from "keyroot/auditors/protocol";
import { parseSubtrees, verifyRootProof } from "../../../packages/keyroot/src/blocks/auditors/rootProof.ts";
import { writeRootProofs } from "../../../packages/operator/src/audit/statements/rootProofFiles.ts";
import { sha256 } from "../../support/samples.ts";
import { modeOf, temporaryFolder } from "../../support/support.ts";

const entries: RootEntry[] = Array.from({ length: 20 }, (_, i) => {
  return { root: sha256(String(i)), recordCount: 700, userCount: 700 };
});

describe("writeRootProofs", () => {
  const folder = temporaryFolder();
  const rootFile = (index: number) => join(folder.path, "roots", `${entries[index]?.root}.txt`);
  const write = (size: number, knownSize: number) =>
    writeRootProofs(folder.path, entries.slice(0, size), { number: size, knownSize });
  /** Verifies all proofs in the folder against a statement with this number of roots. */
  const verifyAll = async (size: number) => {
    const tree = { size, hash: hashRoots(entries.slice(0, size).map(serializeRootEntry)) };
    const tops = parseSubtrees(await readFile(join(folder.path, `${size}-subtrees.txt`)), tree);
    for (const [index, entry] of entries.slice(0, size).entries())
      expect(verifyRootProof(await readFile(rootFile(index)), entry.root, size, tops)).to.deep.equal(entry);
  };

  it("writes proofs that are valid in every later statement", async () => {
    for (let size = 1; size <= 20; size++) await write(size, size - 1);
    for (let size = 1; size <= 20; size++) await verifyAll(size);
    expect(await readdir(join(folder.path, "roots"))).to.have.lengthOf(20);
  });

  it("writes a file again only if its proof becomes longer", async () => {
    await write(16, 0);
    const before = await stat(rootFile(3), { bigint: true });
    await write(19, 16);
    expect((await stat(rootFile(3), { bigint: true })).ino).to.equal(before.ino);
    const last = await stat(rootFile(18), { bigint: true });
    await write(20, 19);
    expect((await stat(rootFile(3), { bigint: true })).ino).to.equal(before.ino);
    expect((await stat(rootFile(18), { bigint: true })).ino).to.not.equal(last.ino);
    await verifyAll(20);
  });

  it("adds missing proofs to a folder", async () => {
    await mkdir(join(folder.path, "roots"));
    await writeFile(join(folder.path, "roots", `.${entries[5]?.root}.txt`), "half");
    await write(20, 20);
    await verifyAll(20);
    await unlink(rootFile(7));
    await write(20, 20);
    await verifyAll(20);
    expect(await modeOf(rootFile(7))).to.equal("644");
    expect(await readdir(join(folder.path, "roots"))).to.have.lengthOf(20);
  });
});
