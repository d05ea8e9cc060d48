import { z } from "zod";
import { REGIONS, type UserID, userIDFromHex } from "keyroot/internal/identity";
import { CURSOR_FORM } from "./database/cursor.ts";
import { ServiceError } from "./base/errors.ts";

/** Maximum size of a request body in bytes. Valid requests are much smaller. */
export const MAX_BODY_BYTES = 16_384;
/** Maximum length of names and token contexts, in characters. */
const MAX_TEXT = 200;
const MAX_PAGE = 1000;

/** The form of a user id: 32 characters of zBase32. */
export const USER_ID_FORM = /^[ybndrfg8ejkmcpqxot1uwisza345h769]{32}$/;

export const strict = z.strictObject;
export const empty = strict({});

/** An object schema with a name in the API descriptions. Generated clients use the name for their types. */
export function named<Shape extends z.ZodRawShape>(id: string, description: string, shape: Shape) {
  return strict(shape).meta({ id, description });
}

export const userIDHex = z
  .string()
  .regex(/^[0-9a-fA-F]{40}$/)
  .toLowerCase()
  .meta({
    description: "The user's id (160 bits) as 40 hex digits, in uppercase or lowercase.",
    example: "8e4f1d0a".repeat(5),
  });
export const userID = z
  .string()
  .regex(USER_ID_FORM)
  .meta({ description: "The user's id (160 bits) as 32 characters of zBase32.", example: "y".repeat(32) });
/** The user's id in either form. `userIDOf` checks that the request contains exactly one form. */
export const eitherUserID = { user_id: userID.optional(), user_id_hex: userIDHex.optional() };
export const region = z
  .enum(REGIONS)
  .meta({ description: "The region of the user's data: us-west-2 (Oregon) or eu-west-1 (Ireland)." });
export const bizID = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[\x21-\x7e]*$/)
  .meta({ description: "The id of the partner." });
export const tokenID = z.uuid().meta({ description: "The id of a refresh token. It is not a secret." });
export const timestamp = z
  .int()
  .nonnegative()
  .meta({ description: "A time in milliseconds since 1970-01-01, UTC.", example: 1_800_000_000_000 });
export const text = (content: string) =>
  z
    .string()
    .min(1)
    .max(MAX_TEXT)
    // Rejects control characters and unpaired surrogates. PostgreSQL cannot store NUL, and UTF-8 cannot encode unpaired
    // surrogates.
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, "must not contain control characters or unpaired surrogates")
    .meta({ description: `${content}, at most ${MAX_TEXT} characters.` });
export const name = text("A human-friendly name");
export const tokenContext = text("The device or purpose of a user's refresh token");
export const nullableText = (content: string) =>
  z
    .string()
    .nullable()
    .meta({ description: `${content}. Null if there is none.` });
export const amount = z.int().nonnegative();
export const count = (items: string) => amount.meta({ description: `The number of ${items}.` });
/** A string of decimal digits, because JSON numbers are not exact. */
export const wei = z.string().meta({ description: "An amount in wei, as decimal digits." });
export const limit = z
  .int()
  .min(1)
  .max(MAX_PAGE)
  .default(100)
  .meta({ description: "The maximum number of items on the page." });
export const cursor = z.string().regex(CURSOR_FORM);
/** The values of a recorded change. A newer replica may store values under new names, so any name is valid. */
export const data = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]));

/**
 * The response schema of a list: one page of items in the field with the given name, and the cursor of the next page.
 */
export function page<const Field extends string, Item extends z.ZodType, Next extends z.ZodType>(
  field: Field,
  item: Item,
  next: Next,
) {
  const items = { [field]: z.array(item) } as Record<Field, z.ZodArray<Item>>;
  return strict({
    ...items,
    next: next.nullable().meta({
      description: "The cursor of the next page. Send it as `after` to get this page. Null on the last page.",
    }),
  });
}

/** The state of a registered key, in responses and in problem documents. */
export const keyState = z.enum(["pending", "submitted", "published"]);
export const holdEndsAt = timestamp.nullable().meta({
  description:
    "The end of a pending key's hold period. The service publishes the key at this time or later. Null while the key waits for the partner's decision about a conflicting key.",
});

/**
 * Returns the user id of a request, which must contain it in exactly one of its two forms.
 * @throws ServiceError FIELD_MISSING, FIELD_INVALID
 */
export function userIDOf({
  user_id,
  user_id_hex,
}: { [Name in keyof typeof eitherUserID]?: string | undefined }): UserID {
  const forms = "user_id (32 characters of zBase32) or user_id_hex (40 hex digits)";
  if (user_id !== undefined && user_id_hex !== undefined)
    throw invalidUserID("FIELD_INVALID", `Send ${forms}, not both.`, "must be missing if user_id_hex is present");
  const userID = user_id ?? (user_id_hex && userIDFromHex(user_id_hex));
  if (userID === undefined) throw invalidUserID("FIELD_MISSING", `Send ${forms}.`, "is missing");
  return userID;
}

function invalidUserID(code: "FIELD_INVALID" | "FIELD_MISSING", message: string, detail: string): ServiceError {
  return new ServiceError(400, code, message, { errors: [{ field: "user_id", detail }] });
}
