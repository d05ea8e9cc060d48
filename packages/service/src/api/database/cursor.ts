import type { z } from "zod";
import { ServiceError } from "../base/errors.ts";

/** The form of a list's cursor in requests: base64url without padding. */
export const CURSOR_FORM = /^[A-Za-z0-9_-]{1,1000}$/;

/** Converts a list position to the text that callers send back as `after`. It is neither secret nor signed. */
export function encodeCursor(position: object): string {
  return Buffer.from(JSON.stringify(position)).toString("base64url");
}

/**
 * Converts a cursor's text back to a position. The position is untrusted, because callers can send any text.
 * @throws ServiceError FIELD_INVALID
 */
export function decodeCursor<Schema extends z.ZodType>(schema: Schema, text: string): z.output<Schema> {
  const { success, data } = schema.safeParse(parse(text));
  if (success) return data;
  const errors = [{ field: "after", detail: "is not a cursor that this operation returned" }];
  throw new ServiceError(400, "FIELD_INVALID", "The request is invalid: after is not a cursor of this operation.", {
    errors,
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString());
  } catch {
    return undefined;
  }
}
