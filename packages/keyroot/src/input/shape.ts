import { describeValue } from "./describeValue.ts";
import { type ErrorDetails, type KeyrootError, VerificationError, verifying } from "../errors.ts";
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

/** Takes a parsed document apart: what it hands out has the form that was asked for, all else is refused. */
export class Shape {
  readonly #refusal: (message: string, details: ErrorDetails) => KeyrootError;

  /** @param refusal makes the error that is thrown */
  constructor(refusal: (message: string, details: ErrorDetails) => KeyrootError) {
    this.#refusal = refusal;
  }

  /** An object with exactly these keys. */
  object<Key extends string>(where: string, value: unknown, keys: readonly Key[]): Record<Key, unknown> {
    const fits =
      isObject(value) && Object.keys(value).length === keys.length && keys.every((key) => Object.hasOwn(value, key));
    if (fits) return value;
    const actual = isObject(value) ? `the keys ${Object.keys(value).join(", ")}` : value;
    throw this.#error(where, `an object with exactly the keys ${keys.join(", ")}`, actual);
  }

  /** These keys of an object, which may have others: undefined stands for one that it has not. */
  fields<Key extends string>(where: string, value: unknown, keys: readonly Key[]): Record<Key, unknown> {
    if (!isObject(value)) throw this.#error(where, "an object", value);
    const own = keys.map((key) => [key, Object.hasOwn(value, key) ? value[key] : undefined]);
    return Object.fromEntries(own) as Record<Key, unknown>;
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

  /** As `text`, for what no message may show. */
  secret(where: string, value: unknown, form: RegExp): string {
    if (typeof value === "string" && form.test(value)) return value;
    throw this.#refusal(`${where} must be a text of the form ${form.source}.`, { expected: form.source });
  }

  /** One of a few texts. */
  oneOf<Text extends string>(where: string, value: unknown, texts: readonly Text[]): Text {
    const text = texts.find((text) => text === value);
    if (text !== undefined) return text;
    throw this.#error(where, `one of ${texts.join(", ")}`, value);
  }

  /** A whole number, zero or more. */
  count(where: string, value: unknown): number {
    if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
    throw this.#error(where, "a whole number", value);
  }

  #error(where: string, expected: string, actual: unknown): KeyrootError {
    const message = `${where} must be ${expected}, it is ${describeValue(actual)}.`;
    return this.#refusal(message, { expected, actual: describeValue(actual) });
  }
}
