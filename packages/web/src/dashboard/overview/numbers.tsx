import type { ComponentChildren } from "preact";
import { Icon } from "../../shared/icon.tsx";

interface NumberItem {
  label: string;
  value: ComponentChildren;
  /** The route of the list that the number counts. */
  page: string;
  note?: string;
  /** Whether the number needs attention. */
  isBad?: boolean;
}

/** A row of numbers. Each number links to the list of the counted items. */
export function Numbers({ items }: { items: readonly NumberItem[] }) {
  return (
    <ul class="numbers">
      {items.map(({ label, value, page, note, isBad = false }) => (
        <li key={label}>
          <a href={`#/${page}`} class={isBad ? "number number-bad" : "number"}>
            <span class="number-label">{label}</span> <b>{value}</b>
            {note !== undefined && <small> {note}</small>}
          </a>
        </li>
      ))}
    </ul>
  );
}

/** A list of tasks, with links to their pages. A task without a link is on this page. */
export function ToDo({ items }: { items: readonly { text: string; page?: string }[] }) {
  if (items.length === 0) {
    return (
      <p class="todo todo-none">
        <Icon name="check" />
        <span>Nothing to do.</span>
      </p>
    );
  }
  return (
    <ul class="todo-list">
      {items.map(({ text, page }) => (
        <li key={text} class="todo">
          <Icon name="warning" />
          <span>
            {text} {page !== undefined && <a href={`#/${page}`}>Show</a>}
          </span>
        </li>
      ))}
    </ul>
  );
}
