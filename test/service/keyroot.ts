import { randomBytes } from "node:crypto";
import { makeSigningKey } from "../../src/service/tokens/signingKeys.ts";
import { startChild } from "./child.ts";
import type { KeyrootOrder, KeyrootReady } from "./keyrootProcess.ts";

const PROCESS = new URL("keyrootProcess.ts", import.meta.url);

/** The service in a process of its own. */
export interface Keyroot extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  /** Processor time that it has spent so far, in µs. */
  cpu(): Promise<number>;
  /** Kills it by SIGKILL. */
  kill(): Promise<void>;
}

/** What stays the same when the service is started again. */
export type KeyrootOptions = KeyrootOrder;

/** Options for a service over that database, with an operator's token and a signing key of its own. */
export async function keyrootOptions(databaseUrl: string, connections: number): Promise<KeyrootOptions> {
  const adminToken = randomBytes(32).toString("base64url");
  return { databaseUrl, connections, adminToken, signingKey: await makeSigningKey() };
}

/** Starts the service; it takes requests when this returns. */
export async function startKeyroot(options: KeyrootOptions): Promise<Keyroot> {
  const child = startChild<KeyrootOrder | { cpu: true }, unknown>(PROCESS);
  const { origin } = (await child.ask(options)) as KeyrootReady;
  return {
    origin,
    cpu: async () => (await child.ask({ cpu: true })) as number,
    kill: () => child.kill(),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

/** What the API answered to one request. */
export interface Answer {
  status: number;
  body: Record<string, unknown>;
}

/** Sends one request to the API. */
export async function post(
  url: string,
  body: object,
  { bearer, idempotencyKey }: { bearer?: string; idempotencyKey?: string } = {},
): Promise<Answer> {
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  if (bearer !== undefined) headers["Authorization"] = `Bearer ${bearer}`;
  if (idempotencyKey !== undefined) headers["Idempotency-Key"] = idempotencyKey;
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

/** A partner company with an access token of its server. */
export interface Partner {
  bizID: string;
  jwt: string;
}

/** Makes a partner, as the operator and then the partner's server do. */
export async function makePartner(origin: string, adminToken: string): Promise<Partner> {
  const ask = async (path: string, body: object, bearer?: string) => {
    const answer = await post(origin + path, body, bearer === undefined ? {} : { bearer });
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return answer.body as Record<string, string>;
  };
  const { biz_id: bizID = "" } = await ask("/v1/admin/partners/create", { name: "Test" }, adminToken);
  const { token = "" } = await ask("/v1/admin/serverTokens/create", { biz_id: bizID }, adminToken);
  const { jwt = "" } = await ask("/v1/public/auth/jwt", { biz_id: bizID, token });
  return { bizID, jwt };
}
