import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { AnswerOf, BodyOf, OperationPath } from "@keyroot/service";
import { call } from "./api.ts";
import { CallError } from "./send.ts";

/** An action that a person starts, for example by a click. */
export interface Action<Args extends unknown[]> {
  run: (...args: Args) => Promise<void>;
  busy: boolean;
  error: CallError | undefined;
}

/** Runs an action, one run at a time. Keeps the last run's error until the next run starts. */
export function useAction<Args extends unknown[]>(act: (...args: Args) => Promise<void>): Action<Args> {
  const [state, setState] = useState<{ busy: boolean; error: CallError | undefined }>({
    busy: false,
    error: undefined,
  });
  const isBusy = useRef(false);
  const run = async (...args: Args) => {
    if (isBusy.current) return;
    isBusy.current = true;
    setState({ busy: true, error: undefined });
    let error: CallError | undefined;
    try {
      await act(...args);
    } catch (reason) {
      error = toCallError(reason);
    }
    isBusy.current = false;
    setState({ busy: false, error });
  };
  return { run, ...state };
}

/** The latest response to a call. Both fields are undefined before the first response. */
export interface Loaded<Result> {
  data: Result | undefined;
  error: CallError | undefined;
  reload: () => void;
}

/**
 * Calls an operation when the page is shown and when the body changes. While it reloads with the same body, the earlier
 * response remains.
 */
export function useLoaded<Path extends OperationPath>(path: Path, body: BodyOf<Path>): Loaded<AnswerOf<Path>> {
  const key = JSON.stringify(body);
  const [state, setState] = useState<{ key: string; data?: AnswerOf<Path>; error?: CallError }>({ key });
  const load = useCallback(async () => {
    try {
      const data = await call(path, JSON.parse(key) as BodyOf<Path>);
      setState({ key, data });
    } catch (reason) {
      setState({ key, error: toCallError(reason) });
    }
  }, [path, key]);
  useEffect(() => void load(), [load]);
  // If the body has changed, the earlier response is hidden.
  const { data, error } = state.key === key ? state : {};
  return { data, error, reload: () => void load() };
}

/**
 * Returns whether the condition has been true in any rendering. Pages use it to show the content below a list only
 * after the list has loaded, because the list would otherwise push this content down.
 */
export function useHasHeld(condition: boolean): boolean {
  const hasHeld = useRef(false);
  hasHeld.current ||= condition;
  return hasHeld.current;
}

/** Whether the first page of a list has loaded or failed. */
export function isSettled({ items, error }: Pick<Pages<unknown>, "items" | "error">): boolean {
  return items !== undefined || error !== undefined;
}

export interface Pages<Item> {
  /** The items of the page. Undefined until the first page has loaded. */
  items: Item[] | undefined;
  error: CallError | undefined;
  busy: boolean;
  /** The page number, starting with 1. */
  number: number;
  hasNext: boolean;
  /** The number of all items, if the response contains it. */
  total: number | undefined;
  next: () => void;
  previous: () => void;
  reload: () => void;
}

const PAGE_SIZE = 25;
/** Maximum number of calls for one page. A call with a filter may return no items although more items follow. */
const MAX_CALLS = 10;

/** The response field that contains a list's items. */
export type ItemsField<Path extends OperationPath> = string & Exclude<keyof AnswerOf<Path>, "next">;
export type ItemOf<
  Path extends OperationPath,
  Field extends ItemsField<Path>,
> = AnswerOf<Path>[Field] extends readonly (infer Item)[] ? Item : never;

interface PageState<Item> {
  items?: Item[];
  error?: CallError;
  busy: boolean;
  /** The cursors after which the pages begin, for each page up to the current page. */
  starts: (string | null)[];
  next: string | null;
  total?: number | undefined;
}

/** Loads a list page by page. @param field the response field that contains the items */
export function usePages<Path extends OperationPath, Field extends ItemsField<Path>>(
  path: Path,
  field: Field,
  body?: Omit<BodyOf<Path>, "limit" | "after">,
): Pages<ItemOf<Path, Field>> {
  type Item = ItemOf<Path, Field>;
  const first: PageState<Item> = { busy: true, starts: [null], next: null };
  const [state, setState] = useState(first);
  const key = JSON.stringify(body ?? {});
  const current = useRef<unknown>(undefined);
  const load = useCallback(
    async (starts: (string | null)[], shown: Item[] | undefined) => {
      const run = (current.current = {});
      const set = (state: PageState<Item>) => {
        if (current.current === run) setState(state);
      };
      set({ busy: true, starts, next: null, ...(shown && { items: shown }) });
      try {
        const isCurrent = () => current.current === run;
        const { items, ...page } = await fetchPage(path, field, key, starts.at(-1) ?? null, isCurrent);
        set({ items: items as Item[], ...page, busy: false, starts });
      } catch (reason) {
        set({ busy: false, starts, next: null, error: toCallError(reason) });
      }
    },
    [path, field, key],
  );
  useEffect(() => {
    void load([null], undefined);
    return () => {
      current.current = undefined;
    };
  }, [load]);
  const { items, error, busy, starts, next, total } = state;
  return {
    ...{ items, error, busy, number: starts.length, hasNext: next !== null, total },
    next: () => void load([...starts, next], items),
    previous: () => void load(starts.slice(0, -1), items),
    reload: () => void load(starts, items),
  };
}

/**
 * Fetches a page, with several calls if necessary, so that only the last page of a list can be empty.
 * @param body the request as JSON, without the position of the page
 * @param isWanted returns false once the page is no longer needed
 */
async function fetchPage(
  path: OperationPath,
  field: string,
  body: string,
  start: string | null,
  isWanted: () => boolean,
) {
  const items: unknown[] = [];
  let next = start;
  let total: number | undefined;
  for (let calls = 1; isWanted(); calls++) {
    const page = {
      ...(JSON.parse(body) as object),
      limit: PAGE_SIZE - items.length,
      ...(next !== null && { after: next }),
    };
    const answer: unknown = await call(path, page as never);
    const { [field]: found = [] } = answer as Record<string, unknown[]>;
    items.push(...found);
    ({ next, total } = answer as { next: string | null; total?: number });
    if (next === null || items.length >= PAGE_SIZE || (items.length > 0 && calls >= MAX_CALLS)) break;
  }
  return { items, next, total };
}

export function toCallError(reason: unknown): CallError {
  if (reason instanceof CallError) return reason;
  return new CallError(
    "DEFECT",
    `This page has a defect: ${reason instanceof Error ? reason.message : String(reason)}`,
  );
}
