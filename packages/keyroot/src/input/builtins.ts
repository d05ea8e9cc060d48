import { ArgumentError } from "../errors.ts";

/** The results of `applyMethods` with the original array methods. */
const EXPECTED = '[[-2,-1],[2],[2,2,1,1],[1],"2-1",[1,2],true,false,true,false,1,[[0,2],[1,1]],true]';

/**
 * Checks that the array methods that this library uses work as they should. Some other libraries replace these methods.
 * If a replaced method skipped elements, a verification could accept a false key. The check runs the methods only on
 * small lists, so it does not find errors that occur only with larger ones.
 */
export function checkBuiltins(): void {
  if (applyMethods() === EXPECTED) return;
  throw new ArgumentError(
    "BUILTIN_REPLACED",
    "A library replaced an array method. Load the library in another process.",
  );
}

/**
 * Checks the methods of `checkBuiltins`, and also the other methods that the package `merkle-tree-gen` replaces.
 * Elliptic-curve code and the operator's programs use them.
 */
export function checkAllBuiltins(): void {
  checkBuiltins();
  const { from } = Array;
  const { find, findLast } = Array.prototype;
  const isTwo = (item: number) => item === 2;
  const [made] = from.call(Array, [1], () => 2);
  if (made === 2 && find.call([1, 2], isTwo) === 2 && findLast.call([2, 1], isTwo) === 2) return;
  const message = "A library replaced Array.from or Array.prototype.find. Load the library in another process.";
  throw new ArgumentError("BUILTIN_REPLACED", message);
}

function applyMethods(): string | undefined {
  const list: number[] = [];
  try {
    list.push(2, 1);
    const isOne = (item: number) => item === 1;
    // JSON.stringify does not call any array method.
    return JSON.stringify([
      list.map((item) => -item),
      list.filter((item) => !isOne(item)),
      list.flatMap((item) => [item, item]),
      list.slice(1),
      list.join("-"),
      [...list].sort(),
      list.includes(2),
      list.includes(3),
      list.some(isOne),
      list.every(isOne),
      list.indexOf(1),
      [...list.entries()],
      Array.isArray(list),
    ]);
  } catch {
    return undefined;
  }
}
