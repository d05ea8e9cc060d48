import type { ComponentChildren } from "preact";

/** A list of names and values. @param props `isDense` makes columns for short values, such as numbers */
export function Facts({ isDense = false, children }: { isDense?: boolean; children: ComponentChildren }) {
  return <dl class={isDense ? "facts facts-dense" : "facts"}>{children}</dl>;
}

interface FactProps {
  name: ComponentChildren;
  /** Whether the value needs the whole width, such as a hash. */
  isWide?: boolean;
  children: ComponentChildren;
}

/** A name and a value in `Facts`. */
export function Fact({ name, isWide = false, children }: FactProps) {
  return (
    <div class={isWide ? "fact-wide" : undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
