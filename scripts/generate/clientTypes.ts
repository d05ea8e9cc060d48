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

const FILE = "packages/client/src/shared/operations.ts";

/** A JSON schema in the OpenAPI documents. */
interface Schema {
  description?: string;
  type?: string | string[];
  enum?: (string | number)[];
  pattern?: string;
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
}

/**
 * A named type: the type's name and comment, the path of the operation, and the type's place in the response. The place
 * is a list, or names of fields.
 */
type NamedType = readonly [name: string, comment: string, path: string, place?: string];

const USER_FIELDS = "user_id,bucket,region,stage,salt,created";

/** The types that apps use by name. A type extends an earlier type if it has all fields of the earlier type. */
const NAMED: readonly NamedType[] = [
  ["ShadowUser", 'A shadow user (docs/specification.md, "Shadow user").', "/v1/authdBizSrv/users/create", USER_FIELDS],
  [
    "KeyProgress",
    "The progress of a key to the chain. With accounts, also its number and the account file.",
    "/v1/authdUser/publicKey/get",
    "hold_ends_at,root,transaction,number,account_file",
  ],
  ["CreatedUser", "A new shadow user, or the one that an earlier call created.", "/v1/authdBizSrv/users/create"],
  ["PartnerUser", "A shadow user with the time of its deactivation.", "/v1/authdBizSrv/users/get"],
  ["DeactivatedUser", "A user whose tokens are rejected.", "/v1/authdBizSrv/users/deactivate"],
  ["ErasedUser", "A user whose data was deleted.", "/v1/authdBizSrv/users/erase"],
  ["ConflictingKey", "A conflicting key.", "/v1/authdUser/record/get", "conflicting_keys"],
  ["UserRecord", "A user's own record. It has a key unless its state is `unregistered`.", "/v1/authdUser/record/get"],
  ["UserPublicKey", "A user's public key as the service states it, unverified.", "/v1/authdUser/publicKey/get"],
  ["KeyEvent", "A change of a user's key before its publication.", "/v1/authdBizSrv/publicKeys/get", "events"],
  [
    ...([
      "KeyOfUser",
      "A user's key for the partner, unverified. It exists unless the state is `unregistered`.",
    ] as const),
    "/v1/authdBizSrv/publicKeys/get",
  ],
  ["UserAccount", "A user's account with its statements.", "/v1/authdUser/account/get"],
  ["AccountStatement", "A statement of an account.", "/v1/authdUser/account/get", "statements"],
  ["KeyChange", "A statement of a user's account.", "/v1/authdUser/account/submit"],
  ["RefreshToken", "A user refresh token without its value.", "/v1/authdBizSrv/users/listRefreshTokens", "tokens"],
  ["ServerToken", "A server token without its value.", "/v1/authdBizSrv/serverTokens/list", "tokens"],
  ["RevokedServerToken", "A revoked server token and its partner.", "/v1/admin/serverTokens/revoke"],
  ["CreatedServerToken", "A new server token.", "/v1/admin/serverTokens/create"],
  ["PartnerEvent", "A change of the partner or one of its users.", "/v1/authdBizSrv/events/list", "events"],
  ["EventPage", "The events after a cursor, the oldest first.", "/v1/authdBizSrv/events/list"],
  ["WebhookEndpoint", "An endpoint that receives events.", "/v1/authdBizSrv/webhooks/list", "endpoints"],
  ["NewWebhookEndpoint", "A new endpoint with its secret.", "/v1/authdBizSrv/webhooks/create"],
  ["RotatedSecret", "The new secret of an endpoint.", "/v1/authdBizSrv/webhooks/rotateSecret"],
  ["WebhookTest", "An endpoint's response to a test.", "/v1/authdBizSrv/webhooks/test"],
  ["WebhookDelivery", "A delivery of an event.", "/v1/authdBizSrv/webhooks/listDeliveries", "deliveries"],
  ["AuditEntry", "An entry of the audit log.", "/v1/admin/audit/list", "entries"],
  ["CreatedPartner", "A new partner.", "/v1/admin/partners/create"],
  ["PartnerSummary", "A partner with its numbers.", "/v1/admin/partners/get"],
  ["PublishedBatch", "A published batch.", "/v1/admin/publishRegistered", "batches"],
  ["StaffInvitation", "An invitation to the dashboard.", "/v1/admin/staff/invite"],
];

const operations = { ...readOperations("docs/openapi.json"), ...readOperations("docs/openapi-operator.json") };
const named = new Map<string, Schema>();
const declarations = NAMED.map(([name, comment, path, place]) => {
  const schema = find(path, place);
  const declaration = `/** ${comment} */\nexport ${declarationOf(name, schema)}`;
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

function readOperations(document: string): Record<string, { body: Schema; answer: Schema }> {
  interface Content {
    content: { "application/json": { schema: Schema } };
  }
  const { paths } = JSON.parse(readFileSync(join(ROOT, document), "utf8")) as {
    paths: Record<string, { post: { requestBody: Content; responses: Record<string, Content> } }>;
  };
  return Object.fromEntries(
    Object.entries(paths).map(([path, { post }]) => {
      const success = post.responses["200"] ?? post.responses["201"];
      if (success === undefined) throw new Error(`${path} has no successful response.`);
      const schemaOf = ({ content }: Content) => content["application/json"].schema;
      return [path, { body: schemaOf(post.requestBody), answer: schemaOf(success) }];
    }),
  );
}

/** Finds the schema of a response, of the items in a list, or of some fields. */
function find(path: string, place?: string): Schema {
  const answer = operations[path]?.answer ?? {};
  const { properties = {}, required = [] } = answer;
  const names = place?.split(",") ?? [];
  if (names.length <= 1) return place === undefined ? answer : (properties[place]?.items ?? {});
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, properties[name] ?? {}])),
    required: required.filter((name) => names.includes(name)),
  };
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
  return description === undefined ? "" : `/** ${description.replace(/: \w+\.\w+,.*/, ".")} */\n`;
}

function typeOf(schema: Schema): string {
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(" | ");
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(" | ");
  if (schema.type === "array") return `(${typeOf(schema.items ?? {})})[]`;
  if (schema.type === "object") return objectTypeOf(schema);
  if (schema.pattern === "^[ybndrfg8ejkmcpqxot1uwisza345h769]{32}$") return "UserID";
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
