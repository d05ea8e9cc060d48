/** The part of JSON Schema that the service's OpenAPI documents use. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  example?: unknown;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  maxItems?: number;
}

export type Schemas = Readonly<Record<string, Schema>>;

/** Returns the name of a referenced schema. */
export function nameOf({ $ref }: Schema): string | undefined {
  return $ref?.split("/").at(-1);
}

/** Returns the schema that a reference names, or the schema itself. */
export function resolve(schema: Schema, schemas: Schemas): Schema {
  const name = nameOf(schema);
  return name === undefined ? schema : (schemas[name] ?? {});
}

/** Describes a schema's type in words, such as "string, at most 64 characters". */
export function typeOf(schema: Schema): string {
  const { type, items, anyOf, enum: values, const: value, maxLength, minimum = 0, maximum, maxItems } = schema;
  const name = nameOf(schema);
  if (name !== undefined) return name;
  if (anyOf !== undefined) return anyOf.map(typeOf).join(" or ");
  if (value !== undefined) return JSON.stringify(value);
  if (values !== undefined) return values.map((item) => JSON.stringify(item)).join(" or ");
  if (type === "array")
    return `array of ${typeOf(items ?? {})}${maxItems === undefined ? "" : `, at most ${maxItems}`}`;
  if (type === "string" && maxLength !== undefined) return `string, at most ${maxLength} characters`;
  if (type === "integer" && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER)
    return `integer from ${minimum} to ${maximum}`;
  return [type ?? "any value"].flat().join(" or ");
}

/** Returns an example of a value: the schema's own example, or one with the right types. */
export function exampleOf(schema: Schema, schemas: Schemas, depth = 0): unknown {
  const {
    type,
    items,
    anyOf,
    properties = {},
    enum: values,
    const: value,
    example,
    minimum,
  } = resolve(schema, schemas);
  if (example !== undefined) return example;
  if (value !== undefined) return value;
  if (values !== undefined) return values[0];
  if (anyOf?.[0] !== undefined) return exampleOf(anyOf[0], schemas, depth);
  if (type === "array") return items === undefined || depth > 3 ? [] : [exampleOf(items, schemas, depth + 1)];
  if (type === "object")
    return Object.fromEntries(
      Object.entries(properties).map(([name, field]) => [name, exampleOf(field, schemas, depth + 1)]),
    );
  if (type === "integer" || type === "number") return minimum ?? 0;
  if (type === "boolean") return false;
  return type === "null" ? null : "…";
}
