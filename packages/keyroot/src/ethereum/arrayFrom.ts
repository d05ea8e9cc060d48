/**
 * Repairs `Array.from` while `@ethereumjs/rlp` is loaded, because that package builds a table with this function. The
 * package `merkle-tree-gen` replaces `Array.from` with a function that ignores the second argument. The table would
 * then be empty, and RLP could not encode long items.
 *
 * Import this file before `@ethereumjs/rlp`. Call `restoreArrayFrom` after both are loaded.
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

/** Restores the `Array.from` that existed before this file was loaded. */
export function restoreArrayFrom(): void {
  if (isReplaced) Object.defineProperty(Array, "from", found);
}
