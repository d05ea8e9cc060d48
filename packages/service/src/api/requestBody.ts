import { isObject } from "keyroot/internal/input";
import { z } from "zod";
import { ServiceError } from "./base/errors.ts";

/** Maximum nesting depth of objects and arrays. */
const MAX_DEPTH = 4;

/**
 * Parses a request body as HTTP clients write it: any JSON, after an optional byte order mark (RFC 8259, section 8.1).
 * An empty body becomes an empty object. Unlike the parser of Merkle-tree files, it accepts everything except repeated
 * keys and deep nesting.
 * @throws ServiceError JSON_INVALID, JSON_DUPLICATE_KEY, JSON_TOO_DEEP
 */
export function parseBody(text: string): unknown {
  const json = text.replace(/^\ufeff/, "");
  if (json.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (cause) {
    throw new ServiceError(400, "JSON_INVALID", "The body is not JSON. Send a JSON object, such as {}.", { cause });
  }
  const keys = [...json.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)].filter(([, colon]) => colon !== undefined);
  if (countMembers(value, MAX_DEPTH) !== keys.length)
    throw new ServiceError(400, "JSON_DUPLICATE_KEY", "The body has a repeated key. Send each field once.");
  return value;
}

/** Counts the members of all objects in a value. @throws ServiceError JSON_TOO_DEEP */
function countMembers(value: unknown, depth: number): number {
  if (typeof value !== "object" || value === null) return 0;
  if (depth === 0) {
    const message = `The body is nested more than ${MAX_DEPTH} levels deep. Send the fields that the operation describes.`;
    throw new ServiceError(400, "JSON_TOO_DEEP", message);
  }
  const children: unknown[] = Object.values(value);
  const own = Array.isArray(value) ? 0 : children.length;
  return children.reduce<number>((sum, child) => sum + countMembers(child, depth - 1), own);
}

/** Omits fields with the value null for which the schema permits no null, but permits their absence. */
export function withoutNulls(schema: z.ZodType, body: unknown): unknown {
  if (!isObject(body) || !(schema instanceof z.ZodObject)) return body;
  const isAbsent = ([name, value]: [string, unknown]) => {
    const field: unknown = Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined;
    if (value !== null || !(field instanceof z.ZodType)) return false;
    return !field.safeParse(null).success && field.safeParse(undefined).success;
  };
  const fields = Object.entries(body);
  return fields.some(isAbsent) ? Object.fromEntries(fields.filter((field) => !isAbsent(field))) : body;
}
