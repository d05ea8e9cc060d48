import { expect } from "chai";
import { ArgumentError, VerificationError } from "keyroot/internal/errors";
import { makeMerkleFile, type MerkleFile } from "keyroot/internal/merkle";
import type { MerkleFileStore } from "@keyroot/operator/publisher";
import { sampleRecords, storedAs, textOf } from "../samples.ts";
import { failure } from "../support.ts";

/** A store under test. */
interface TestedStore {
  store: MerkleFileStore;
  /** Returns the path or the address of a file. */
  whereOf: (file: MerkleFile) => string;
  /** Stores any text under the name of a file, without the store. */
  place: (file: MerkleFile, text: string) => Promise<unknown>;
  /** Reads a stored file, without the store. */
  read: (file: MerkleFile) => Promise<string>;
  /** Returns the names of all stored files, if they can be listed. */
  names?: () => Promise<string[]>;
  /** Checks additional properties of a store's error. */
  checkError?: (error: unknown) => void;
}

/** Tests that every store of Merkle-tree files must pass. @param large a file that takes several writes */
export function itStoresFiles(large: MerkleFile, begin: () => TestedStore): void {
  const small = makeMerkleFile(sampleRecords(5));
  const nameOf = ({ tree }: MerkleFile) => `${tree.root}.json`;
  const expectNames = async (...files: MerkleFile[]) => {
    const names = await begin().names?.();
    if (names !== undefined) expect(names).to.have.members(files.map(nameOf));
  };

  it("stores a file under its root's name, byte for byte", async () => {
    const { store, whereOf, read } = begin();
    for (const file of [small, large]) {
      expect(await store.put(file)).to.deep.equal(storedAs(whereOf(file), file));
      expect((await read(file)) === textOf(file)).to.be.true;
      expect(Buffer.from(await store.get(file.tree.root)).toString() === textOf(file)).to.be.true;
    }
    await expectNames(small, large);
  });

  it("rejects a file if different content is stored under its name", async () => {
    const { store, place, read, checkError } = begin();
    const text = textOf(small);
    for (const other of ["", "{}", `${text}\n`, text.slice(1), text.slice(0, -1), textOf(large)]) {
      await place(small, other);
      const error = await failure(store.put(small));
      expect(error).to.be.an.instanceof(ArgumentError).with.property("code", "FILE_CONFLICT");
      checkError?.(error);
      expect((await read(small)) === other).to.be.true;
      await expectNames(small);
    }
  });

  it("overwrites different content with replace", async () => {
    const { store, whereOf, place, read } = begin();
    for (const other of ["", textOf(small).slice(1), textOf(large)]) {
      await place(small, other);
      expect(await store.put(small, { replace: true })).to.deep.equal(storedAs(whereOf(small), small));
      expect((await read(small)) === textOf(small)).to.be.true;
      await expectNames(small);
    }
  });

  it("lets several writers store the same file at the same time", async () => {
    const { store, whereOf } = begin();
    const stored = await Promise.all(Array.from({ length: 8 }, () => store.put(large)));
    for (const one of stored) expect(one).to.deep.equal(storedAs(whereOf(large), large));
    await expectNames(large);
  });

  it("reports that a file does not exist", async () => {
    const { store, whereOf, checkError } = begin();
    const error = await failure(store.get(small.tree.root));
    expect(error).to.be.an.instanceof(VerificationError).with.property("code", "FILE_NOT_FOUND");
    expect(error).to.have.property("message", `${whereOf(small)} does not exist.`);
    checkError?.(error);
  });
}
