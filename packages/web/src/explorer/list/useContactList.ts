import { useEffect, useState } from "preact/hooks";
import { callWorker } from "../shared/callWorker.ts";
import type { ContactResult, Options } from "../worker/messages.ts";

/** The contacts of a list with the verdicts that are known so far. */
export interface ContactList {
  results: readonly ContactResult[];
  isOver: boolean;
  /** Why the list cannot be read. */
  problem: string | undefined;
}

const NOTHING_READ: ContactList = { results: [], isOver: false, problem: undefined };
/** Time between two renderings of the list, in ms. */
const RENDER_MS = 100;

/** Verifies a contact list each time an argument changes. @returns undefined without a file */
export function useContactList(file: File | undefined, options: Options, attempt: number): ContactList | undefined {
  const [list, setList] = useState(NOTHING_READ);
  const key = JSON.stringify(options);
  useEffect(() => {
    setList(NOTHING_READ);
    if (file === undefined) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    const results: ContactResult[] = [];
    const set = (change: Partial<ContactList>) => {
      if (!signal.aborted) setList({ ...NOTHING_READ, results: [...results], ...change });
    };
    const timer = setInterval(() => {
      set({});
    }, RENDER_MS);
    const verify = async () => {
      const bytes = new Uint8Array(await file.arrayBuffer());
      return callWorker(
        "list",
        "verifyList",
        { bytes, options },
        {
          signal,
          onProgress: (event) => {
            if (event.kind === "contacts") results.push(...event.results);
            else if (event.kind === "contact") results[event.index] = event.result;
          },
        },
      );
    };
    verify()
      .then(
        (result) => {
          set({ isOver: true, ...result });
        },
        (error: unknown) => {
          set({ isOver: true, problem: `This page has a defect: ${String(error)}` });
        },
      )
      .finally(() => {
        clearInterval(timer);
      });
    return () => {
      controller.abort();
      clearInterval(timer);
    };
    // `key` changes when the options change.
  }, [file, key, attempt]);
  return file && list;
}
