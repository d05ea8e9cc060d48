/** A generator of API clients, and a program that uses its client. */
export interface Generator {
  /** The program of the generator below `node_modules`, with its arguments. The description is in `openapi.json`. */
  command: readonly string[];
  /** Files that the generator needs. */
  files?: Readonly<Record<string, string>>;
  /** The program. `input` is a `ClientInput`, and `print` gets a `ClientOutcome`. */
  program: string;
}

/** What the programs need. */
export interface ClientInput {
  url: string;
  bizID: string;
  serverToken: string;
  /** The new user's id, 40 hex digits. */
  userIDHex: string;
}

/**
 * What a program did: the status of its new user, the user, the partner's events and webhooks, and the code of an
 * error.
 */
export interface ClientOutcome {
  created: number;
  user: { user_id: string; deactivated: number | null };
  events: { type: string }[];
  webhooks: { endpoint_id: string }[];
  code: string;
}

/** A receiver of webhooks, to check the types of the events. */
const RECEIVER = `
function rootOf(event: UserCreatedEvent | KeyPublishedEvent): string | undefined {
  return event.type === "key.published" ? event.data.root : undefined;
}
void rootOf;
`;

export const GENERATORS: Readonly<Record<string, Generator>> = {
  "openapi-typescript": {
    command: ["openapi-typescript/bin/cli.js", "openapi.json", "--output", "generated.d.ts"],
    program: `import createClient from "openapi-fetch";
import type { components, paths, webhooks as Webhooks } from "./generated.js";
type Schemas = components["schemas"];
type KeyPublishedEvent = Webhooks["key.published"]["post"]["requestBody"]["content"]["application/json"];
type UserCreatedEvent = Schemas["UserCreatedEvent"];
${RECEIVER}
const body = { biz_id: input.bizID, token: input.serverToken };
const api = createClient<paths>({ baseUrl: input.url });
const { data: token } = await api.POST("/v1/public/auth/jwt", { body });
const headers = { Authorization: \`Bearer \${token!.jwt}\` };
const user_id_hex = input.userIDHex;
const { data: created } = await api.POST("/v1/authdBizSrv/users/create", { headers, body: { user_id_hex, region: "us-west-2" } });
const found = await api.POST("/v1/authdBizSrv/users/get", { headers, body: { user_id_hex } });
const user: Schemas["ShadowUser"] = found.data!;
const page = await api.POST("/v1/authdBizSrv/events/list", { headers, body: {} });
const events: Schemas["Event"][] = page.data!.events;
const listed = await api.POST("/v1/authdBizSrv/webhooks/list", { headers, body: {} });
const webhooks: Schemas["Webhook"][] = listed.data!.endpoints;
const { error } = await api.POST("/v1/authdBizSrv/users/get", { headers, body: { user_id_hex: "00".repeat(20) } });
const problem: Schemas["Problem"] = error!;
print({ created: created!.status, user, events, webhooks, code: problem.code });
`,
  },
  "@hey-api/openapi-ts": {
    command: ["@hey-api/openapi-ts/bin/run.js", "--input", "openapi.json", "--output", "generated"],
    program: `import { createClient } from "./generated/client/index.js";
import * as api from "./generated/sdk.gen.js";
import type { Event, KeyPublishedEvent, Problem, ShadowUser, UserCreatedEvent, Webhook } from "./generated/types.gen.js";
${RECEIVER}
let jwt = "";
const client = createClient({ baseUrl: input.url, auth: () => jwt });
const token = await api.publicAuthJwt({ client, body: { biz_id: input.bizID, token: input.serverToken } });
jwt = token.data!.jwt;
const user_id_hex = input.userIDHex;
const created = await api.authdBizSrvUsersCreate({ client, body: { user_id_hex, region: "us-west-2" } });
const user: ShadowUser = (await api.authdBizSrvUsersGet({ client, body: { user_id_hex } })).data!;
const events: Event[] = (await api.authdBizSrvEventsList({ client, body: {} })).data!.events;
const webhooks: Webhook[] = (await api.authdBizSrvWebhooksList({ client, body: {} })).data!.endpoints;
const refused = await api.authdBizSrvUsersGet({ client, body: { user_id_hex: "00".repeat(20) } });
const problem: Problem = refused.error!;
print({ created: created.data!.status, user, events, webhooks, code: problem.code });
`,
  },
  orval: {
    command: ["orval/dist/bin/orval.mjs", "--config", "orval.config.mjs"],
    files: {
      "orval.config.mjs": `export default {
  keyroot: { input: "./openapi.json", output: { target: "./generated.ts", client: "fetch", baseUrl: "SERVICE_URL" } },
};
`,
    },
    program: `import * as api from "./generated.js";
import type { Event, KeyPublishedEvent, Problem, ShadowUser, UserCreatedEvent, Webhook } from "./generated.js";
${RECEIVER}
const token = await api.publicAuthJwt({ biz_id: input.bizID, token: input.serverToken });
if (token.status !== 200) throw new Error(token.data.code);
const options = { headers: { Authorization: \`Bearer \${token.data.jwt}\` } };
const user_id_hex = input.userIDHex;
const created = await api.authdBizSrvUsersCreate({ user_id_hex, region: "us-west-2" }, options);
const found = await api.authdBizSrvUsersGet({ user_id_hex }, options);
const page = await api.authdBizSrvEventsList({}, options);
const listed = await api.authdBizSrvWebhooksList({}, options);
const refused = await api.authdBizSrvUsersGet({ user_id_hex: "00".repeat(20) }, options);
if (found.status !== 200 || page.status !== 200 || listed.status !== 200 || refused.status !== 404) throw new Error("status");
const user: ShadowUser = found.data;
const events: Event[] = page.data.events;
const webhooks: Webhook[] = listed.data.endpoints;
const problem: Problem = refused.data;
print({ created: created.status, user, events, webhooks, code: problem.code });
`,
  },
  "swagger-typescript-api": {
    command: [
      "swagger-typescript-api/dist/cli.mjs",
      "generate",
      "--path",
      "openapi.json",
      "--output",
      ".",
      "--name",
      "generated.ts",
    ],
    program: `import { Api, type Event, type HttpResponse, type KeyPublishedEvent, type Problem, type ShadowUser, type UserCreatedEvent, type Webhook } from "./generated.js";
${RECEIVER}
const worker = (jwt: string | null) => ({ headers: { Authorization: \`Bearer \${jwt}\` } });
const { v1, setSecurityData } = new Api<string>({ baseUrl: input.url, securityWorker: worker });
const token = await v1.publicAuthJwt({ biz_id: input.bizID, token: input.serverToken });
setSecurityData(token.data.jwt);
const user_id_hex = input.userIDHex;
const created = await v1.authdBizSrvUsersCreate({ user_id_hex, region: "us-west-2" });
const user: ShadowUser = (await v1.authdBizSrvUsersGet({ user_id_hex })).data;
const events: Event[] = (await v1.authdBizSrvEventsList({})).data.events;
const webhooks: Webhook[] = (await v1.authdBizSrvWebhooksList({})).data.endpoints;
const refused = v1.authdBizSrvUsersGet({ user_id_hex: "00".repeat(20) });
const problem: Problem = await refused.then(() => { throw new Error("accepted"); }, (response: HttpResponse<unknown, Problem>) => response.error);
print({ created: created.data.status, user, events, webhooks, code: problem.code });
`,
  },
};
