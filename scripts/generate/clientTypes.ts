/**
 * Writes two files of packages/client/src/shared: `operations.ts`, with the types of requests and responses, and
 * `answerChecks.ts`, with functions that check responses against these types. Both are made from docs/openapi.json and
 * docs/openapi-operator.json, which `openApi.ts` writes from the service's table of operations.
 *
 *     node scripts/generate/clientTypes.ts            writes the files
 *     node scripts/generate/clientTypes.ts --check    exits with 1 if a file is not up to date
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../test/root.ts";
import { formatFor, writeOrCheck } from "./writeOrCheck.ts";

const REFERENCE = "#/components/schemas/";
const TYPES_FILE = "packages/client/src/shared/operations.ts";
const CHECKS_FILE = "packages/client/src/shared/answerChecks.ts";
const USER_ID_PATTERN = "^[ybndrfg8ejkmcpqxot1uwisza345h769]{32}$";

/** A JSON schema in the OpenAPI documents. */
interface Schema {
  $ref?: string;
  description?: string;
  type?: string | string[];
  enum?: (string | number)[];
  const?: string | number;
  pattern?: string;
  format?: string;
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

/** Parts of request bodies: the operation that has exactly these fields. */
const REQUEST_PARTS: readonly (readonly [name: string, comment: string, path: string])[] = [
  ["UserInRequest", "The id of a user, in one of its two forms.", "/v1/authdBizSrv/users/get"],
  ["AuditFilter", "The entries of an audit log to list.", "/v1/authdBizSrv/audit/list"],
];

/** The names of types that would hide a name of browsers, or of the library that checks webhooks. */
const NAMES: Readonly<Record<string, string>> = {
  Event: "PartnerEvent",
  Webhook: "WebhookEndpoint",
  NewWebhook: "NewWebhookEndpoint",
};

/** The fields that contain a secret, by type and name, with the names of their checks in `answers.ts`. */
const SECRETS: Readonly<Record<string, string>> = {
  "CreatedServerToken.token": "serverTokenText",
  "NewWebhookEndpoint.secret": "webhookSecret",
  "RotatedSecret.secret": "webhookSecret",
  "StaffInvitation.url": "invitationUrl",
};

const documents = ["docs/openapi.json", "docs/openapi-operator.json"].map(readDocument);
const schemas = Object.assign({}, ...documents.map(({ components }) => components.schemas)) as Record<string, Schema>;
const operations = Object.assign({}, ...documents.map(readOperations)) as ReturnType<typeof readOperations>;
const named = new Map<string, Schema>();
const requestParts = REQUEST_PARTS.map(([name, description, path]): [string, Schema] => [
  name,
  { ...operations[path]?.body, description },
]);
const declare = ([name, schema]: [string, Schema]) => {
  const declaration = `/** ${schema.description} */\n${declarationOf(name, schema)}`;
  named.set(name, schema);
  return declaration;
};
const declarations = [...PARTS.map(partOf), ...answers()].map((type) =>
  declare(type).replace("\ninterface", "\nexport interface"),
);
const checked = [...named].filter(([name]) => name !== "Problem");
const requestDeclarations = requestParts.map(declare);
const rows = Object.entries(operations).map(
  ([path, { body, answer }]) => `"${path}": { body: ${uncommented(body)}; answer: ${uncommented(answer)} };`,
);
const source = `// Written by scripts/generate/clientTypes.ts from the service's table of operations. Do not edit.
import type { Region, UserID } from "keyroot/internal/identity";

${[...declarations, ...requestDeclarations].join("\n\n")}

/** The types of the request body and the response of each operation, by its path. */
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
await writeOrCheck(TYPES_FILE, await formatFor(TYPES_FILE, source, { objectWrap: "collapse" }));
await writeOrCheck(CHECKS_FILE, await formatFor(CHECKS_FILE, checksSource(), { objectWrap: "collapse" }));

/**
 * Returns the source of the checks. Every named type has a check, except the types of events, because clients accept
 * any event. Each check is built only when it runs: a bundler would keep unused ones if they were built when the module
 * loads.
 */
function checksSource(): string {
  const responses = JSON.stringify(Object.values(operations).map(({ answer }) => answer));
  const checks = referencedFirst(checked)
    .map(([name, schema]) => {
      const isResponse = responses.includes(`"${REFERENCE}${schemaNameOf(name)}"`);
      return `${isResponse ? "export " : ""}const ${checkNameOf(name)}: Check<types.${name}> = (where, value) => ${typeCheckOf(name, schema)}(where, value);`;
    })
    .join("\n\n");
  const uses = (name: string) => new RegExp(`\\b${name}\\b(?!:)`).test(checks);
  const imported = [
    ...["boolean", "both", "count", "dictionary", "list", "nullable", "object", "oneOf", "optional", "scalar", "text"],
    ...["userID", "uuid", ...new Set(Object.values(SECRETS))],
  ].filter(uses);
  return `// Written by scripts/generate/clientTypes.ts from the service's table of operations. Do not edit.
import { type Check, ${imported.join(", ")} } from "./answers.ts";
import type * as types from "./operations.ts";

${checks}
`;
}

/** Orders types so that each one follows the types of its fields. */
function referencedFirst(types: readonly [string, Schema][]): [string, Schema][] {
  const ordered = new Map<string, Schema>();
  const add = ([name, schema]: [string, Schema]) => {
    const text = JSON.stringify(schema);
    for (const type of types)
      if (!ordered.has(type[0]) && text.includes(`${REFERENCE}${schemaNameOf(type[0])}"`)) add(type);
    ordered.set(name, schema);
  };
  for (const type of types) if (!ordered.has(type[0])) add(type);
  return [...ordered];
}

function schemaNameOf(name: string): string {
  return Object.entries(NAMES).find(([, renamed]) => renamed === name)?.[0] ?? name;
}

function checkNameOf(name: string): string {
  return `${name.slice(0, 1).toLowerCase()}${name.slice(1)}`;
}

/** Returns the check of a type, which is made of those of the types that it extends. */
function typeCheckOf(name: string, schema: Schema): string {
  const bases = basesOf(schema, name);
  const inherited = new Set(bases.flatMap((base) => Object.keys(named.get(base)?.properties ?? {})));
  const own = `object({ ${fieldChecksOf(schema, name, inherited)} })`;
  return bases.reduceRight((check, base) => `both(${checkNameOf(base)}, ${check})`, own);
}

function fieldChecksOf({ properties = {}, required = [] }: Schema, type = "", inherited = new Set<string>()): string {
  const own = Object.entries(properties).filter(([field]) => !inherited.has(field));
  const checks = own.map(([field, schema]) => {
    const check = SECRETS[`${type}.${field}`] ?? checkOf(schema);
    return `${field}: ${required.includes(field) ? check : `optional(${check})`}`;
  });
  return checks.join(", ");
}

function checkOf(schema: Schema): string {
  const { type, pattern, anyOf, items, additionalProperties: value } = schema;
  if (schema.$ref !== undefined) return checkNameOf(typeNameOf(schema.$ref));
  if (anyOf !== undefined) return nullableCheckOf(anyOf);
  if (Array.isArray(type))
    return type.length > 2 ? "scalar" : nullableCheckOf(type.map((type) => ({ ...schema, type })));
  if (type === "array") return `list(${checkOf(items ?? {})})`;
  if (typeof value === "object") return `dictionary(${checkOf(value)})`;
  if (type === "object") return `object({ ${fieldChecksOf(schema)} })`;
  if (type === "integer") return "count";
  if (type === "boolean") return "boolean";
  if (pattern === USER_ID_PATTERN) return "userID";
  if (schema.format === "uuid") return "uuid";
  if (schema.const !== undefined) return `oneOf(${JSON.stringify(schema.const)})`;
  const values = closedValuesOf(schema);
  if (values !== undefined) return `oneOf(${values.map((value) => JSON.stringify(value)).join(", ")})`;
  // Names and texts that people wrote may have any characters.
  return pattern === undefined || pattern.includes("\\p") ? "text()" : `text(/${pattern}/)`;
}

function nullableCheckOf(schemas: readonly Schema[]): string {
  const [value, ...others] = schemas.filter(({ type }) => type !== "null");
  if (value === undefined || others.length > 0) throw new Error(`No check for ${JSON.stringify(schemas)}.`);
  return `nullable(${checkOf(value)})`;
}

/**
 * Returns the values of a closed list. Returns undefined for lists of events and actions, whose names contain a dot: a
 * newer service may have more of them, so these lists are not closed.
 */
function closedValuesOf({ enum: values }: Schema): readonly (string | number)[] | undefined {
  return values?.some((value) => String(value).includes(".")) === true ? undefined : values;
}

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
function basesOf(schema: Schema, own = ""): string[] {
  const fields = new Set(Object.keys(schema.properties ?? {}));
  const fits = ([, { properties = {}, required = [] }]: [string, Schema]) =>
    Object.entries(properties).every(
      ([name, field]) =>
        JSON.stringify(schema.properties?.[name]) === JSON.stringify(field) &&
        required.includes(name) === (schema.required ?? []).includes(name),
    );
  const namesOf = ([, { properties = {} }]: [string, Schema]) => Object.keys(properties);
  const largestFirst = [...named]
    .filter((each) => each[0] !== own && fits(each))
    .sort((a, b) => namesOf(b).length - namesOf(a).length);
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

/** Formats a type without the comments of its fields, which are in the OpenAPI documents. */
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
  if (schema.pattern === USER_ID_PATTERN) return "UserID";
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const { type = "unknown" } = schema;
  const values = closedValuesOf(schema);
  if (values?.join() === "us-west-2,eu-west-1") return "Region";
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(" | ");
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
