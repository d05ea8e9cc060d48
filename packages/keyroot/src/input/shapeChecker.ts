import { hasOwn } from "../engine/language.ts";
import type { ErrorDetails, KeyrootError } from "../errors.ts";
import { describeValue, isObject } from "./values.ts";

type MakeShapeError = (message: string, details: ErrorDetails) => KeyrootError;

/**
 * Checks the types of untrusted parsed data and returns it with TypeScript types. If a value has the wrong type, each
 * method throws an error that `makeError` makes. The message names the path of the value, such as `siblings[0].hash`.
 */
export class ShapeChecker {
  private readonly makeError: MakeShapeError;

  constructor(makeError: MakeShapeError) {
    this.makeError = makeError;
  }

  /** Checks an object that has exactly these keys. */
  object<Key extends string>(path: string, value: unknown, keys: readonly Key[]): Record<Key, unknown> {
    const fits =
      isObject(value) && Object.keys(value).length === keys.length && keys.every((key) => hasOwn(value, key));
    if (fits) return value;
    const actual = isObject(value) ? `the keys ${Object.keys(value).join(", ")}` : value;
    throw this.error(path, `an object with exactly the keys ${keys.join(", ")}`, actual);
  }

  /** Returns an object's values for these keys. Other keys are ignored, and a missing key has the value undefined. */
  fields<Key extends string>(path: string, value: unknown, keys: readonly Key[]): Record<Key, unknown> {
    const object = this.dictionary(path, value);
    const own = keys.map((key) => [key, hasOwn(object, key) ? object[key] : undefined]);
    return Object.fromEntries(own) as Record<Key, unknown>;
  }

  dictionary(path: string, value: unknown): Record<string, unknown> {
    if (isObject(value)) return value;
    throw this.error(path, "an object", value);
  }

  array(path: string, value: unknown): unknown[] {
    if (Array.isArray(value)) return value;
    throw this.error(path, "an array", value);
  }

  /** Checks an array of at most `maxLength` items, and returns the result of `readItem` for each of them. */
  list<T>(path: string, value: unknown, maxLength: number, readItem: (path: string, item: unknown) => T): T[] {
    const items = this.array(path, value);
    if (items.length > maxLength) throw this.error(`${path}.length`, `at most ${maxLength}`, items.length);
    return items.map((item, i) => readItem(`${path}[${i}]`, item));
  }

  text(path: string, value: unknown, pattern?: RegExp): string {
    if (typeof value === "string" && pattern?.test(value) !== false) return value;
    throw this.error(path, pattern === undefined ? "a string" : `a string that matches ${pattern.source}`, value);
  }

  /** Checks that a value is one of the expected strings or numbers. */
  oneOf<Value extends string | number>(path: string, value: unknown, expected: readonly Value[]): Value {
    for (const each of expected) if (each === value) return each;
    throw this.error(path, `one of ${expected.join(", ")}`, value);
  }

  boolean(path: string, value: unknown): boolean {
    if (typeof value === "boolean") return value;
    throw this.error(path, "true or false", value);
  }

  /** Checks a whole number of at least zero. */
  count(path: string, value: unknown): number {
    if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
    throw this.error(path, "a whole number", value);
  }

  private error(path: string, expected: string, actual: unknown): KeyrootError {
    const description = describeValue(actual);
    return this.makeError(`${path} must be ${expected}, but is ${description}.`, { expected, actual: description });
  }
}
