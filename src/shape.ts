import { describeValue } from "./describeValue.ts";
import { type ErrorCode, VerificationError, verifying } from "./errors.ts";
import { isObject, parseJson } from "./json.ts";

/** How large a document may be, and how many objects and arrays may stand inside each other in it. */
interface DocumentLimits {
  maxBytes: number;
  maxDepth: number;
}

/**
 * Parses a document from outside, where it is bytes; a value that was parsed already is handed back.
 * @throws VerificationError FILE_TOO_LARGE, FILE_NOT_UTF8, and as `parseJson`, step "file"
 */
export function parseDocument(what: string, source: unknown, { maxBytes, maxDepth }: DocumentLimits): unknown {
  if (!(source instanceof Uint8Array)) return source;
  if (source.length > maxBytes) {
    const message = `${what} has ${source.length} bytes, at most ${maxBytes} are read.`;
    throw new VerificationError("file", "FILE_TOO_LARGE", message, { expected: maxBytes, actual: source.length });
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(source);
  } catch (cause) {
    throw new VerificationError("file", "FILE_NOT_UTF8", `${what} is not UTF-8.`, { cause });
  }
  return verifying("file", what, () => parseJson(text, maxDepth));
}

/** Takes a parsed document apart: what it hands out has the form that was asked for, all else is refused with `code`. */
export class Shape {
  readonly #code: ErrorCode;

  constructor(code: ErrorCode) {
    this.#code = code;
  }

  /** An object with exactly these keys. */
  object<Key extends string>(where: string, value: unknown, keys: readonly Key[]): Record<Key, unknown> {
    const fits =
      isObject(value) && Object.keys(value).length === keys.length && keys.every((key) => Object.hasOwn(value, key));
    if (fits) return value;
    const actual = isObject(value) ? `the keys ${Object.keys(value).join(", ")}` : value;
    throw this.#error(where, `an object with exactly the keys ${keys.join(", ")}`, actual);
  }

  /** An array, with each of its items read. */
  list<T>(where: string, value: unknown, most: number, read: (where: string, item: unknown) => T): T[] {
    if (!Array.isArray(value) || value.length > most) {
      throw this.#error(where, `a list of ${most} at the most`, Array.isArray(value) ? value.length : value);
    }
    return value.map((item, i) => read(`${where}[${i}]`, item));
  }

  /** A text, of a certain form where one is given. */
  text(where: string, value: unknown, form?: RegExp): string {
    if (typeof value === "string" && form?.test(value) !== false) return value;
    throw this.#error(where, form === undefined ? "a text" : `a text of the form ${form.source}`, value);
  }

  /** A whole number, zero or more. */
  count(where: string, value: unknown): number {
    if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
    throw this.#error(where, "a whole number", value);
  }

  #error(where: string, expected: string, actual: unknown): VerificationError {
    const message = `${where} must be ${expected}, it is ${describeValue(actual)}.`;
    return new VerificationError("file", this.#code, message, { expected, actual: describeValue(actual) });
  }
}
