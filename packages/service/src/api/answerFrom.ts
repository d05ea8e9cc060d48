import type { z } from "zod";

/** The name in code of a field of the API: `userID` of `user_id`, `holdEndsAt` of `hold_ends_at`. */
type CodeName<Field> = Field extends `${infer Start}_id`
  ? `${CodeName<Start>}ID`
  : Field extends `${infer Start}_${infer Rest}`
    ? `${Start}${Capitalize<CodeName<Rest>>}`
    : Field;

/**
 * A row with a value for each field of a schema. Its columns have the names in code, and it may have further columns.
 */
type RowOf<Shape extends z.ZodRawShape> = {
  readonly [Field in keyof Shape as CodeName<Field>]: z.output<Shape[Field]>;
};

/**
 * Creates an answer from a row, with exactly the fields of the schema. To make another field of the row part of the
 * API, one more line in the schema is enough.
 */
export function answerFrom<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  row: RowOf<Shape>,
): z.output<z.ZodObject<Shape>> {
  const values = row as Record<string, unknown>;
  const fields = Object.keys(schema.shape).map((field) => [field, values[codeNameOf(field)]] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as z.output<z.ZodObject<Shape>>;
}

function codeNameOf(field: string): string {
  return field.replace(/_id$/, "ID").replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
