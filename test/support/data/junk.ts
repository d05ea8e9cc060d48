import fc from "fast-check";
import { KeyrootError } from "keyroot";

/** Values that plain JavaScript can pass although the types do not allow them. */
export const WRONG_VALUES: readonly unknown[] = [
  null,
  true,
  -1,
  NaN,
  10n,
  "",
  "text",
  Symbol("symbol"),
  [],
  [null],
  {},
  Object.create(null),
  new Map(),
  new Date(NaN),
  () => undefined,
];

/** Any value: nested, without a prototype, with the names of inherited properties, or of a type that JSON does not have. */
export const junk: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(...WRONG_VALUES),
  fc.anything({
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withObjectString: true,
    withSet: true,
    withSparseArray: true,
    withTypedArray: true,
  }),
);

/** Calls a function, and returns its KeyrootError, if any. Throws any other error. */
export async function keyrootErrorOf(call: () => unknown): Promise<KeyrootError | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    if (error instanceof KeyrootError) return error;
    throw error;
  }
}

const HASH = `0x${"0123456789abcdef".repeat(4)}`;

/** Answers of an endpoint that are neither a quantity nor bytes in hex. */
export const INVALID_ANSWERS: readonly unknown[] = [
  ...[undefined, null, true, 1, 1n, "", "latest", "0xg0", `${HASH}\n`, ` ${HASH}`, [HASH], {}],
];
