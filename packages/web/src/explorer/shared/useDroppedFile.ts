import { DEFAULT_LIMITS } from "keyroot/internal/transport";
import { useState } from "preact/hooks";
import { go } from "../../shared/router.ts";
import { useWindowEvent } from "../../shared/useWindowEvent.ts";

/** The files that the visitor has dropped on the page. */
interface Dropped {
  /** The last dropped file of another kind. */
  bundle: File | undefined;
  /** The last dropped contact list. */
  list: File | undefined;
  /** The contents of Merkle-tree files, by the roots in the files. */
  batches: ReadonlyMap<string, Uint8Array>;
}

/**
 * Handles files that are dropped on any page. A Merkle-tree file opens as a batch, a CSV file or a JSON array as a
 * contact list, and any other file as a bundle.
 */
export function useDroppedFile(): Dropped {
  const [dropped, setDropped] = useState<Dropped>({
    bundle: undefined,
    list: undefined,
    batches: new Map(),
  });
  const take = async (file: File) => {
    if (await isContactList(file)) {
      setDropped((before) => ({ ...before, list: file }));
      go("list");
      return;
    }
    const root = await findNamedRoot(file);
    if (root === undefined) {
      setDropped((before) => ({ ...before, bundle: file }));
      go("bundle");
      return;
    }
    const bytes = new Uint8Array(await file.arrayBuffer());
    setDropped(({ batches, ...before }) => ({ ...before, batches: new Map([...batches, [root, bytes]]) }));
    go(`batch/${root}`);
  };
  useWindowEvent("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files") === true) event.preventDefault();
  });
  useWindowEvent("drop", (event) => {
    const file = event.dataTransfer?.files[0];
    if (file === undefined) return;
    event.preventDefault();
    void take(file);
  });
  return dropped;
}

/** Whether a file is CSV by its name, or begins as a JSON array of objects. */
async function isContactList(file: File): Promise<boolean> {
  return /\.csv$/i.test(file.name) || /^\s*\[\s*\{/.test(await file.slice(0, 100).text());
}

/**
 * Patterns of JSON members that identify a Merkle-tree file. A JSON string cannot match, because JSON strings escape
 * quotes.
 */
const MERKLE = /"merkle"\s*:/;
const ROOT = /"root"\s*:\s*"([0-9a-f]{64})"/;

/**
 * Finds the root in the text of a Merkle-tree file. It does not parse the file, because a hostile file could take much
 * time and memory. The worker parses and verifies it.
 * @returns undefined for other files
 */
async function findNamedRoot(file: File): Promise<string | undefined> {
  if (file.size > DEFAULT_LIMITS.fileBytes) return undefined;
  const text = await file.text();
  return MERKLE.test(text) ? ROOT.exec(text)?.[1] : undefined;
}
