import { isHash } from "keyroot/ethereum";
import { DEFAULT_LIMITS } from "keyroot/transport";
import { useEffect, useState } from "preact/hooks";
import { go } from "../../shared/router.ts";

/** The files that the visitor has dropped on the page. */
interface Dropped {
  /** The last file that is not a Merkle-tree file. */
  bundle: File | undefined;
  /** The contents of Merkle-tree files, by the roots that the files name. */
  batches: ReadonlyMap<string, Uint8Array>;
}

/** Handles files that are dropped on any page. A Merkle-tree file opens as a batch, and any other file as a bundle. */
export function useDroppedFile(): Dropped {
  const [dropped, setDropped] = useState<Dropped>({ bundle: undefined, batches: new Map() });
  useEffect(() => {
    const allow = (event: DragEvent) => {
      if (event.dataTransfer?.types.includes("Files") === true) event.preventDefault();
    };
    const take = async (file: File) => {
      const root = await readNamedRoot(file);
      if (root === undefined) {
        setDropped((before) => ({ ...before, bundle: file }));
        go("bundle");
        return;
      }
      const bytes = new Uint8Array(await file.arrayBuffer());
      setDropped(({ bundle, batches }) => ({ bundle, batches: new Map([...batches, [root, bytes]]) }));
      go(`batch/${root}`);
    };
    const drop = (event: DragEvent) => {
      const file = event.dataTransfer?.files[0];
      if (file === undefined) return;
      event.preventDefault();
      void take(file);
    };
    addEventListener("dragover", allow);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", allow);
      removeEventListener("drop", drop);
    };
  }, []);
  return dropped;
}

/** Reads the root that a Merkle-tree file names. The batch page verifies it. @returns undefined for other files */
async function readNamedRoot(file: File): Promise<string | undefined> {
  if (file.size > DEFAULT_LIMITS.fileBytes) return undefined;
  try {
    const { merkle } = JSON.parse(await file.text()) as { merkle?: { root?: unknown } };
    const root = merkle?.root;
    return typeof root === "string" && isHash(`0x${root}`) ? root : undefined;
  } catch {
    return undefined;
  }
}
