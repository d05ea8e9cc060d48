/**
 * `@ethereumjs/rlp` makes a table with Array.from when it is loaded. `merkle-tree-gen` replaces Array.from by a function that
 * ignores its second argument, so that the table is empty and long items are refused. Import this file before the package: it
 * replaces such a function until `restoreArrayFrom` is called.
 */
const { from } = Array;
const found = Object.getOwnPropertyDescriptor(Array, "from");
const isReplaced = found?.configurable === true && from.call(Array, [0], () => 1)[0] !== 1;

if (isReplaced) {
  const value = ({ length }: ArrayLike<unknown>, make: (value: undefined, i: number) => unknown): unknown[] => {
    const made: unknown[] = [];
    for (let i = 0; i < length; i++) made.push(make(undefined, i));
    return made;
  };
  Object.defineProperty(Array, "from", { ...found, value });
}

/** Restores the earlier function. */
export function restoreArrayFrom(): void {
  if (isReplaced) Object.defineProperty(Array, "from", found);
}
