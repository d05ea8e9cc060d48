/**
 * Writes packages/client/src/shared/operations.ts, which contains the types of requests and responses. The types come
 * from docs/openapi.json and docs/openapi-operator.json, which `openApi.ts` writes from the service's table of
 * operations.
 *
 *     node scripts/generate/clientTypes.ts            writes the file
 *     node scripts/generate/clientTypes.ts --check    exits with 1 if the file is not up to date
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../test/root.ts";
import { formatFor, writeOrCheck } from "./writeOrCheck.ts";

const REFERENCE = "#/components/schemas/";
const FILE = "packages/client/src/shared/operations.ts";

/** A JSON schema in the OpenAPI documents. */
interface Schema {
  $ref?: string;
  description?: string;
  type?: string | string[];
  enum?: (string | number)[];
  const?: string | number;
  pattern?: string;
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
}

/** Parts of named types, which the types extend: the schema and its fields. */
const PARTS: readonly (readonly [name: string, comment: string, schema: string, fields: readonly string[]])[] = [
  [
    "UserFields",
    'The fields of a shadow user (docs/specification.md, "Shadow user").',
    "CreatedUser",
    ["user_id", "bucket", "region", "stage", "salt", "created"],
  ],
  [
    "KeyProgress",
    "The progress of a key to the chain. With accounts, also its number and the account file.",
    "UserKey",
    ["hold_ends_at", "root", "transaction", "number", "account_file"],
  ],
];

/** The names of types that would hide a name of browsers, or of the library that checks webhooks. */
const NAMES: Readonly<Record<string, string>> = {
  Event: "PartnerEvent",
  Webhook: "WebhookEndpoint",
  NewWebhook: "NewWebhookEndpoint",
};

const documents = ["docs/openapi.json", "docs/openapi-operator.json"].map(readDocument);
const schemas = Object.assign({}, ...documents.map(({ components }) => components.schemas)) as Record<string, Schema>;
const operations = Object.assign({}, ...documents.map(readOperations)) as ReturnType<typeof readOperations>;
const named = new Map<string, Schema>();
const declarations = [...PARTS.map(partOf), ...answers()].map(([name, schema]) => {
  const declaration = `/** ${schema.description} */\nexport ${declarationOf(name, schema)}`;
  named.set(name, schema);
  return declaration;
});
const rows = Object.entries(operations).map(
  ([path, { body, answer }]) => `"${path}": { body: ${uncommented(body)}; answer: ${uncommented(answer)} };`,
);
const source = `// Written by scripts/generate/clientTypes.ts from the service's table of operations. Do not edit.
import type { Region, UserID } from "keyroot/internal/identity";

${declarations.join("\n\n")}

/** The types of the request body and the response of each operation, by the operation's path. */
interface Operations {
${rows.join("\n")}
}

/** The path of an operation. */
export type OperationPath = keyof Operations;

/** The body of an operation's request. */
export type BodyOf<Path extends OperationPath> = Operations[Path]["body"];

/** The response of an operation. */
export type AnswerOf<Path extends OperationPath> = Operations[Path]["answer"];
`;
await writeOrCheck(FILE, await formatFor(FILE, source, { objectWrap: "collapse" }));

function readDocument(document: string) {
  interface Content {
    content: { "application/json": { schema: Schema } };
  }
  return JSON.parse(readFileSync(join(ROOT, document), "utf8")) as {
    paths: Record<string, { post: { requestBody: Content; responses: Record<string, Content> } }>;
    components: { schemas: Record<string, Schema> };
  };
}

function readOperations({ paths }: ReturnType<typeof readDocument>): Record<string, { body: Schema; answer: Schema }> {
  return Object.fromEntries(
    Object.entries(paths).map(([path, { post }]) => {
      const success = post.responses["200"] ?? post.responses["201"];
      if (success === undefined) throw new Error(`${path} has no successful response.`);
      const schemaOf = ({ content }: typeof success) => content["application/json"].schema;
      return [path, { body: schemaOf(post.requestBody), answer: schemaOf(success) }];
    }),
  );
}

function partOf([name, description, schema, fields]: (typeof PARTS)[number]): [string, Schema] {
  const { properties = {}, required = [] } = schemas[schema] ?? {};
  const kept = Object.fromEntries(fields.map((field) => [field, properties[field] ?? {}]));
  return [name, { description, properties: kept, required: required.filter((field) => fields.includes(field)) }];
}

/** Returns the named schemas in the operations' responses. A type follows the types that it may extend. */
function answers(): [string, Schema][] {
  const text = JSON.stringify([Object.values(operations), schemas]);
  const used = Object.entries(schemas).filter(([name]) => text.includes(`"${REFERENCE}${name}"`));
  const sizeOf = ({ properties = {} }: Schema) => Object.keys(properties).length;
  return used.sort(([, a], [, b]) => sizeOf(a) - sizeOf(b)).map(([name, schema]) => [NAMES[name] ?? name, schema]);
}

function declarationOf(name: string, schema: Schema): string {
  const bases = basesOf(schema);
  const heritage = bases.length === 0 ? "" : ` extends ${bases.join(", ")}`;
  return `interface ${name}${heritage} {\n${fieldsOf(schema, bases)}}`;
}

/** Returns the named types with fields that are all in the schema, without types that other named types include. */
function basesOf(schema: Schema): string[] {
  const fields = new Set(Object.keys(schema.properties ?? {}));
  const fits = ([, { properties = {}, required = [] }]: [string, Schema]) =>
    Object.entries(properties).every(
      ([name, field]) =>
        JSON.stringify(schema.properties?.[name]) === JSON.stringify(field) &&
        required.includes(name) === schema.required?.includes(name),
    );
  const namesOf = ([, { properties = {} }]: [string, Schema]) => Object.keys(properties);
  const largestFirst = [...named].filter(fits).sort((a, b) => namesOf(b).length - namesOf(a).length);
  return largestFirst.flatMap((base) => {
    const added = namesOf(base).filter((name) => fields.delete(name));
    return added.length > 0 ? [base[0]] : [];
  });
}

function fieldsOf({ properties = {}, required = [] }: Schema, bases: readonly string[]): string {
  const inherited = new Set(bases.flatMap((base) => Object.keys(named.get(base)?.properties ?? {})));
  const own = Object.entries(properties).filter(([name]) => !inherited.has(name));
  return own
    .map(([name, schema]) => {
      const field = `${name}${required.includes(name) ? ":" : "?:"} ${typeOf(schema)}`;
      return `${commentOf(schema)}${field}${required.includes(name) ? "" : " | undefined"};\n`;
    })
    .join("");
}

/** Formats a type without the comments of the type's fields. The OpenAPI documents contain these comments. */
function uncommented(schema: Schema): string {
  return typeOf(schema).replace(/^\/\*\* .* \*\/\n/gm, "");
}

/** Returns the description of a field, without the list of event or action names. */
function commentOf({ description }: Schema): string {
  return description === undefined ? "" : `/** ${description.replace(/(?:, one of)?: \w+\.\w+,.*/, ".")} */\n`;
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return typeNameOf(schema.$ref);
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(" | ");
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(" | ");
  if (schema.type === "array") return `(${typeOf(schema.items ?? {})})[]`;
  if (schema.type === "object") return objectTypeOf(schema);
  if (schema.pattern === "^[ybndrfg8ejkmcpqxot1uwisza345h769]{32}$") return "UserID";
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const { type = "unknown", enum: values } = schema;
  if (values?.join() === "us-west-2,eu-west-1") return "Region";
  // A newer service may have more events and actions. Names of events and actions contain a dot.
  const isOpen = values === undefined || values.some((value) => String(value).includes("."));
  if (!isOpen) return values.map((value) => JSON.stringify(value)).join(" | ");
  return type === "integer" ? "number" : type;
}

function objectTypeOf(schema: Schema): string {
  const { properties, additionalProperties: value } = schema;
  if (typeof value === "object") return `Record<string, ${typeOf(value)}>`;
  if (properties === undefined || Object.keys(properties).length === 0) return "Record<string, never>";
  const bases = basesOf(schema);
  const fields = fieldsOf(schema, bases);
  return [...bases, ...(fields === "" ? [] : [`{\n${fields}}`])].join(" & ");
}

function typeNameOf(reference: string): string {
  const name = reference.slice(REFERENCE.length);
  return NAMES[name] ?? name;
}
