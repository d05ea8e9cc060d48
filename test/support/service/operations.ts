import { ADMIN_TOKEN, unconnectedApp } from "./support.ts";
import type { Caller, TestPartner, TestUser } from "./caller.ts";
import { isObject } from "../../../packages/keyroot/src/input/json.ts";
import { makeKeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import { samplePublicKeys } from "../../../fixtures/samples.ts";

/** A schema of JSON, as far as the API's bodies use it. */
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
}

/** Whose token an operation takes. */
export type Taker = "public" | "partner" | "user" | "operator";

/** An operation of the API, as its description has it. */
export interface Operation {
  path: string;
  taker: Taker;
  body: JsonSchema;
  /** Whether it takes an Idempotency-Key. */
  idempotent: boolean;
  /** The statuses that it may answer, each with what it answers then. */
  answers: Map<number, JsonSchema>;
}

interface Described {
  tags: Taker[];
  parameters?: { name: string; in: string }[];
  requestBody: { content: { "application/json": { schema: JsonSchema } } };
  responses: Record<string, { content: Record<string, { schema: JsonSchema }> }>;
}

/** Every operation that /openapi.json describes: what is new there is tested with the others. */
export const OPERATIONS: readonly Operation[] = await readOperations();

async function readOperations(): Promise<Operation[]> {
  await using app = await unconnectedApp();
  const documents = await Promise.all(["/openapi.json", "/openapi-operator.json"].map((path) => app.inject(path)));
  const operations = documents.flatMap((document) => {
    const { paths } = withoutReferences(document.json()) as { paths: Record<string, { post: Described }> };
    return Object.entries(paths);
  });
  return operations.map(([path, { post }]) => {
    const { tags, parameters = [], requestBody, responses } = post;
    const [taker] = tags;
    return {
      path,
      taker: taker ?? never(`${path} does not say whose it is.`),
      body: requestBody.content["application/json"].schema,
      idempotent: parameters.some(({ name }) => name.toLowerCase() === "idempotency-key"),
      answers: new Map(
        Object.entries(responses).map(([status, { content }]) => {
          const type = Number(status) < 400 ? "application/json" : "application/problem+json";
          return [Number(status), content[type]?.schema ?? never(`${path} has no ${type} for ${status}.`)];
        }),
      ),
    };
  });
}

/** A partner with a user and a token for each taker: all that requests speak of. */
export interface World {
  partner: TestPartner;
  user: TestUser;
  /** A refresh token of the user's, beside the one that is used: a test may revoke it. */
  tokenID: string;
  tokens: Record<Taker, string | undefined>;
}

/** Makes a partner and a user who has registered a key. */
export async function makeWorld(service: Caller): Promise<World> {
  const partner = await service.makePartner();
  const user = await service.makeUser(partner);
  const key = { pubKey: KEY.pubKey, keyID: KEY.keyID };
  await service.done("/v1/authdUser/publicKey/register", key, { token: user.jwt });
  const [token, ofUser] = [partner.jwt, { user_id_hex: user.hex }];
  await service.done("/v1/authdBizSrv/users/createRefreshToken", { ...ofUser, context: SPARE }, { token });
  const { tokens } = await service.done("/v1/authdBizSrv/users/listRefreshTokens", ofUser, { token });
  const spare = (tokens as { token_id: string; context: string }[]).find(({ context }) => context === SPARE);
  return {
    partner,
    user,
    tokenID: spare?.token_id ?? never("The token is not listed."),
    tokens: { public: undefined, partner: partner.jwt, user: user.jwt, operator: ADMIN_TOKEN },
  };
}

const SPARE = "A tablet that was lost";
const [publicKey = new Uint8Array()] = samplePublicKeys;
const KEY = makeKeyRecord("y".repeat(32), publicKey);

/** A body that the operation takes. @throws Error for a field that is not known here yet */
export function goodBody({ path, body }: Operation, { partner, user, tokenID }: World): Record<string, unknown> {
  const values: Record<string, unknown> = {
    biz_id: partner.bizID,
    token: partner.refreshToken,
    user_id_hex: user.hex,
    user_id: user.userID,
    region: "us-west-2",
    context: "A phone",
    token_id: tokenID,
    limit: 2,
    after: "y".repeat(32),
    name: "A name",
    pubKey: KEY.pubKey,
    keyID: KEY.keyID,
  };
  return Object.fromEntries(
    Object.keys(body.properties ?? never(`${path} takes no object.`)).map((field) => {
      if (!(field in values)) throw new Error(`${path} takes ${field}, of which the tests know no value.`);
      return [field, values[field]];
    }),
  );
}

/** A JSON document with what its references name in their place. */
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
    return resolve(named ?? never(`${$ref} names nothing.`));
  };
  return resolve(document);
}

function never(why: string): never {
  throw new Error(why);
}
