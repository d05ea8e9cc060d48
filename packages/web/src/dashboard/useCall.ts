import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { call, CallError } from "./api.ts";

/** An action that a person started, such as a click on a button. */
export interface Action<Args extends unknown[]> {
  run: (...args: Args) => Promise<void>;
  busy: boolean;
  error: CallError | undefined;
}

/** Runs an action once at a time, and keeps its error until the next attempt. */
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

/** What a call returned, once it has. */
export interface Loaded<Result> {
  data: Result | undefined;
  error: CallError | undefined;
  reload: () => void;
}

/** Calls when the page is shown, and when the body changes. What was loaded stays until the next answer. */
export function useLoaded<Result>(path: string, body: object = {}): Loaded<Result> {
  const key = JSON.stringify(body);
  const [state, setState] = useState<{ key: string; data?: Result; error?: CallError }>({ key });
  const load = useCallback(async () => {
    try {
      const data = await call<Result>(path, JSON.parse(key) as object);
      setState({ key, data });
    } catch (reason) {
      setState({ key, error: toCallError(reason) });
    }
  }, [path, key]);
  useEffect(() => void load(), [load]);
  // The answer to an earlier body is not shown.
  const { data, error } = state.key === key ? state : {};
  return { data, error, reload: () => void load() };
}

/**
 * Whether a condition has held since the component is shown. What is below a list is shown after the list, because it would
 * be moved by it.
 */
export function useHasHeld(condition: boolean): boolean {
  const hasHeld = useRef(false);
  hasHeld.current ||= condition;
  return hasHeld.current;
}

/** Whether the first page of a list was loaded, or has failed. */
export function isSettled({ items, error }: Pick<Pages<unknown>, "items" | "error">): boolean {
  return items !== undefined || error !== undefined;
}

/** The pages of a list that were loaded. */
export interface Pages<Item> {
  /** Undefined until the first page is there. */
  items: Item[] | undefined;
  error: CallError | undefined;
  busy: boolean;
  /** Whether a page follows. */
  hasMore: boolean;
  loadMore: () => void;
  /** Starts again with the first page. */
  reload: () => void;
}

const PAGE_SIZE = 50;

/** Loads a list page by page. @param name the field of the response that has the items */
export function usePages<Item>(path: string, name: string, body?: object): Pages<Item> {
  const [state, setState] = useState<{ items?: Item[]; next: string | null; error?: CallError; busy: boolean }>({
    next: null,
    busy: true,
  });
  const key = JSON.stringify(body ?? {});
  const load = useCallback(
    async (earlier: Item[], after: string | null) => {
      setState({ items: earlier, next: after, busy: true });
      try {
        const page = { ...(JSON.parse(key) as object), limit: PAGE_SIZE, ...(after !== null && { after }) };
        const answer = await call<Record<string, Item[]> & { next: string | null }>(path, page);
        setState({ items: [...earlier, ...(answer[name] ?? [])], next: answer.next, busy: false });
      } catch (reason) {
        setState({ items: earlier, next: after, error: toCallError(reason), busy: false });
      }
    },
    [path, name, key],
  );
  useEffect(() => void load([], null), [load]);
  const { items, next, error, busy } = state;
  return {
    ...{ error, busy, hasMore: next !== null },
    // An empty list is known to be empty only after it was loaded.
    items: items?.length === 0 && (busy || error !== undefined) ? undefined : items,
    loadMore: () => void load(items ?? [], next),
    reload: () => void load([], null),
  };
}

function toCallError(reason: unknown): CallError {
  if (reason instanceof CallError) return reason;
  return new CallError("DEFECT", `This page failed: ${reason instanceof Error ? reason.message : String(reason)}`);
}
