import { z } from "zod";
import { ADMIN_TOKEN, unconnectedApp } from "./support.ts";
import type { Caller, TestPartner, TestUser } from "./caller.ts";
import { isObject } from "../../../packages/keyroot/src/input/values.ts";
import { makeKeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import { isForReaders, isForStaff, tokenCallerOf } from "../../../packages/service/src/api/defineOperation.ts";
import { operations } from "../../../packages/service/src/serve/operations.ts";
import { encodeCursor } from "../../../packages/service/src/api/database/cursor.ts";
import { sampleKeyPairs } from "../samples.ts";
import { never } from "../support.ts";

/** The part of JSON Schema that the API uses. */
export interface JsonSchema {
  type?: string;
  enum?: unknown[];
  pattern?: string;
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean;
  items?: JsonSchema;
  minItems?: number;
  maxItems?: number;
}

/** Whose token an operation requires. */
export type Tag = "public" | "partner" | "user" | "operator";

/** An operation from the OpenAPI documents. */
export interface Operation {
  path: string;
  tag: Tag;
  body: JsonSchema;
  /** Whether it accepts an Idempotency-Key. */
  idempotent: boolean;
  /** The schema of the response for each status. */
  responses: Map<number, JsonSchema>;
}

interface Described {
  tags: Tag[];
  parameters?: { name: string; in: string }[];
  requestBody: { content: { "application/json": { schema: JsonSchema } } };
  responses: Record<string, { content: Record<string, { schema: JsonSchema }> }>;
}

/** Every operation of both OpenAPI documents. Tests that use this list cover new operations automatically. */
export const OPERATIONS: readonly Operation[] = await readOperations();

/** Whether an operation also works in a service without accounts. `accounts/changes.test.ts` tests the others. */
export function needsNoAccounts({ path }: { path: string }): boolean {
  return !/\/accounts?\//.test(path);
}

/**
 * Every operation of the service's table, including those for people with a session. Each entry contains the kind of
 * caller that uses a bearer token, and whether people may call the operation.
 */
export const TABLE = operations.map((operation) => {
  const { path, reads = false, unverified, body } = operation;
  const role = isForReaders(operation) ? "reader" : "administrator";
  const schema = z.toJSONSchema(body, { io: "input" }) as JsonSchema;
  const callers: readonly string[] = operation.callers;
  const [token, forStaff] = [tokenCallerOf(operation), isForStaff(operation)];
  return { path, callers, role, reads, unverified, body: schema, token, forStaff };
});

async function readOperations(): Promise<Operation[]> {
  await using app = await unconnectedApp();
  const documents = await Promise.all(["/openapi.json", "/openapi-operator.json"].map((path) => app.inject(path)));
  const operations = documents.flatMap((document) => {
    const { paths } = withoutReferences(document.json()) as { paths: Record<string, { post: Described }> };
    return Object.entries(paths);
  });
  return operations.map(([path, { post }]) => {
    const { tags, parameters = [], requestBody } = post;
    const [tag] = tags;
    return {
      path,
      tag: tag ?? never(`${path} has no tag.`),
      body: requestBody.content["application/json"].schema,
      idempotent: parameters.some(({ name }) => name.toLowerCase() === "idempotency-key"),
      responses: new Map(
        Object.entries(post.responses).map(([status, { content }]) => {
          const type = Number(status) < 400 ? "application/json" : "application/problem+json";
          return [Number(status), content[type]?.schema ?? never(`${path} has no ${type} for status ${status}.`)];
        }),
      ),
    };
  });
}

/** A partner with a user, and a token for each tag: the values for valid requests. */
export interface Tenant {
  partner: TestPartner;
  user: TestUser;
  /** The id of an unused refresh token of the user, which a test may revoke. */
  tokenID: string;
  tokens: Record<Tag, string | undefined>;
  /** Another partner, and another user of the first partner. A test may suspend, deactivate or erase them. */
  expendable: { partner: TestPartner; user: TestUser };
  /** The id of a webhook endpoint, and of one that a test may delete. */
  endpointIDs: { kept: string; expendable: string };
}

/** Creates a partner and a user with a registered key. */
export async function createTenant(service: Caller): Promise<Tenant> {
  const partner = await service.createPartner();
  const user = await service.createUser(partner);
  const expendable = { partner: await service.createPartner(), user: await service.createUser(partner) };
  await service.registerKey(user, keys);
  const [token, ofUser] = [partner.jwt, { user_id_hex: user.hex }];
  await service.done("/v1/authdBizSrv/users/createRefreshToken", { ...ofUser, context: SPARE }, { token });
  const { tokens } = await service.done("/v1/authdBizSrv/users/listRefreshTokens", ofUser, { token });
  const addEndpoint = async () => {
    const made = await service.done("/v1/authdBizSrv/webhooks/create", { url: WEBHOOK_URL }, { token });
    return made["endpoint_id"] as string;
  };
  const spare = (tokens as { token_id: string; context: string }[]).find(({ context }) => context === SPARE);
  return {
    partner,
    user,
    tokenID: spare?.token_id ?? never("The token is missing in the list."),
    tokens: { public: undefined, partner: partner.jwt, user: user.jwt, operator: ADMIN_TOKEN },
    expendable,
    endpointIDs: { kept: await addEndpoint(), expendable: await addEndpoint() },
  };
}

const WEBHOOK_URL = "https://receiver.example/keyroot";
const SPARE = "A tablet that was lost";
const [keys = never("There is no sample.")] = sampleKeyPairs;
const KEY = makeKeyRecord("y".repeat(32), keys.publicKey);

/** The form of a browser's answer, with every field of both kinds. */
const PASSKEY_ANSWER = {
  ...{ id: "AA", rawId: "AA", type: "public-key" },
  response: { clientDataJSON: "AA", authenticatorData: "AA", signature: "AA" },
};
const NO_EVENT = "00000000-0000-4000-8000-000000000000";

/** Operations that make a partner, a user or a server's token unusable for other tests. */
const EXPENDING =
  /^\/v1\/admin\/(?:partners\/(?:suspend|resume|setUserLimit)|serverTokens\/revoke)$|\/users\/(?:deactivate|erase)$/;

/** A valid body for the operation. @throws Error for a field without a value here */
export function goodBody({ path, body }: Pick<Operation, "path" | "body">, tenant: Tenant): Record<string, unknown> {
  const { partner, user } = EXPENDING.test(path) ? tenant.expendable : tenant;
  const tokenID = path.startsWith("/v1/admin/") ? partner.tokenID : tenant.tokenID;
  const values: Record<string, unknown> = {
    biz_id: partner.bizID,
    token: partner.refreshToken,
    user_id_hex: user.hex,
    user_id: user.userID,
    region: "us-west-2",
    context: "A phone",
    token_id: tokenID,
    limit: 2,
    after: cursorOf(path, tenant),
    name: "A name",
    role: "reader",
    endpoint_id: path.endsWith("/delete") ? tenant.endpointIDs.expendable : tenant.endpointIDs.kept,
    event_id: NO_EVENT,
    url: WEBHOOK_URL,
    types: ["key.published", "user.created"],
    state: path.endsWith("/users/list") ? "published" : "pending",
    since: 0,
    search: "compan",
    prefix: "y",
    user_limit: 1000,
    users: [{ user_id_hex: user.hex, region: "us-west-2", context: "A phone" }],
    action: "user.created",
    actor_kind: "partner",
    actor_id: partner.tokenID,
    until: 4_102_444_800_000,
    public_key: KEY.pubKey,
    key_id: KEY.keyID,
    challenge: Buffer.alloc(32).toString("base64"),
    response: Buffer.alloc(32).toString("base64"),
    ...{
      account: "keyroot/account-v1\n",
      statement: "keyroot/key-v1\n",
      objection: "keyroot/objection-v1\n",
      number: 1,
    },
    person_id: NO_EVENT,
    passkey_id: "AA",
    answer: PASSKEY_ANSWER,
  };
  const fields = Object.keys(body.properties ?? never(`The body of ${path} is not an object.`));
  // A request has one form of the user's id.
  const sent = fields.includes("user_id_hex") ? fields.filter((field) => field !== "user_id") : fields;
  return Object.fromEntries(
    sent.map((field) => {
      if (!(field in values)) throw new Error(`Add a value for the field ${field} of ${path} here.`);
      return [field, values[field]];
    }),
  );
}

/** The `after` of a list: the id of an item. */
function cursorOf(path: string, { partner, tokenID }: Tenant): string {
  if (path.endsWith("/listDeliveries")) return NO_EVENT;
  if (path.endsWith("/partners/list")) return partner.bizID;
  if (path.endsWith("/listRefreshTokens")) return tokenID;
  if (path.endsWith("/audit/list")) return encodeCursor({ at: 4_102_444_800_000, place: "home", position: 1 });
  if (path.endsWith("/events/list")) return encodeCursor({ seen: Date.now(), read: {} });
  return path.endsWith("/serverTokens/list") ? partner.tokenID : "y".repeat(32);
}

/** Replaces the references in a JSON document by their targets. */
function withoutReferences(document: unknown): unknown {
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (!isObject(value)) return value;
    const { $ref } = value;
    if (typeof $ref !== "string") return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, resolve(v)]));
    const named = $ref
      .split("/")
      .slice(1)
      .reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), document);
    return resolve(named ?? never(`${$ref} does not exist.`));
  };
  return resolve(document);
}
