import type { ComponentChildren } from "preact";
import { formatCount } from "../../shared/format.ts";
import { Icon } from "../../shared/icon.tsx";
import type { CallError } from "./send.ts";
import type { Pages } from "./useCall.ts";

interface CardHeadProps {
  /** The heading's id, for `aria-labelledby`. */
  id: string;
  title: ComponentChildren;
  /** The button's text. If undefined, the card has no button. */
  action?: string | undefined;
  onAction: () => void;
}

/** The title of a section, with a button for the section's main action. */
export function CardHead({ id, title, action, onAction }: CardHeadProps) {
  return (
    <div class="card-head">
      <h2 id={id}>{title}</h2>
      {action !== undefined && (
        <button type="button" class="button button-primary" onClick={onAction}>
          {action}
        </button>
      )}
    </div>
  );
}

/** The reason why a call failed, with a button that repeats the call. */
export function Failure({ error, retry }: { error: CallError | undefined; retry?: () => void }) {
  return (
    <div role="alert">
      {error && (
        <div class="failure">
          <Icon name="warning" />
          <p>
            {error.message} <code>{error.code}</code>
          </p>
          {retry && (
            <button type="button" class="button" onClick={retry}>
              Try again
            </button>
          )}
        </div>
      )}
    </div>
  );
}

interface UnloadedProps {
  error: CallError | undefined;
  reload: () => void;
  children?: ComponentChildren;
}

/** The text of a page before its first response, or the reason why the call failed. */
export function Unloaded({ error, reload, children = "Loading…" }: UnloadedProps) {
  return error ? <Failure error={error} retry={reload} /> : <p role="status">{children}</p>;
}

/**
 * A badge that shows whether a token or an endpoint is active.
 * @param props `ended`: the text for an inactive token or endpoint
 */
export function ActiveBadge({ isActive, ended }: { isActive: boolean; ended: string }) {
  return <span class={isActive ? "badge badge-good" : "badge badge-off"}>{isActive ? "active" : ended}</span>;
}

interface PagedTableProps<Item> {
  pages: Pages<Item>;
  columns: readonly ComponentChildren[];
  row: (item: Item) => ComponentChildren;
  /** The text below the table. */
  note?: ComponentChildren;
  /** The text instead of an empty table. */
  empty?: ComponentChildren;
  onKeyDown?: (event: KeyboardEvent) => void;
}

/** A page of a list as a table, with the list's end. */
export function PagedTable<Item>({ pages, columns, row, note, empty, onKeyDown }: PagedTableProps<Item>) {
  const { items } = pages;
  return (
    <>
      {items && items.length > 0 && (
        <>
          <table class="list" onKeyDown={onKeyDown}>
            <thead>
              <tr>
                {columns.map((column, i) => (
                  <th key={i} scope="col">
                    {column}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>{items.map(row)}</tbody>
          </table>
          {note}
        </>
      )}
      {items?.length === 0 && empty}
      <ListEnd pages={pages} />
    </>
  );
}

/** The end of a list: an error message, or the buttons for the other pages. */
export function ListEnd({ pages }: { pages: Omit<Pages<unknown>, "items"> }) {
  const { error, busy, number, hasNext, next, previous, reload } = pages;
  const turn = (act: () => void) => (event: Event) => {
    act();
    (event.currentTarget as HTMLElement).closest("section")?.scrollIntoView();
  };
  return (
    <>
      <Failure error={error} retry={reload} />
      {(hasNext || number > 1) && error === undefined && (
        <div class="pager">
          <button type="button" class="button button-small" disabled={busy || number === 1} onClick={turn(previous)}>
            Previous
          </button>
          <p role="status">Page {formatCount(number)}</p>
          <button type="button" class="button button-small" disabled={busy || !hasNext} onClick={turn(next)}>
            Next
          </button>
        </div>
      )}
    </>
  );
}
