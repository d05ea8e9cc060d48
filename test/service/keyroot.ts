import { randomBytes, randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Schedule } from "../../src/service/publishing/schedule.ts";
import { openDatabases } from "../../src/service/store/database.ts";
import { makeSigningKey } from "../../src/service/tokens/signingKeys.ts";
import type { Postgres } from "../postgres/postgres.ts";
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

/**
 * Settings of a service over a fresh database of that server: an operator's token, a signing key, no limit of rate.
 * @param postgres its folder is where the file of the signing key goes
 */
export async function keyrootSettings(postgres: Pick<Postgres, "createDatabase" | "folder">, connections: number) {
  const url = await postgres.createDatabase();
  await using databases = await openDatabases({ url });
  await databases.migrate();
  const signingKeys = join(postgres.folder, `${randomUUID()}.jwks.json`);
  await writeFile(signingKeys, JSON.stringify({ keys: [await makeSigningKey()] }));
  return {
    DATABASE_URL: url,
    KEYROOT_ADMIN_TOKEN: randomBytes(32).toString("base64url"),
    KEYROOT_BASE_URL: "https://keyroot.example",
    KEYROOT_DATABASE_CONNECTIONS: String(connections),
    KEYROOT_LOG_LEVEL: "fatal",
    KEYROOT_PORT: "0",
    KEYROOT_RATE_LIMIT: "0",
    KEYROOT_SIGNING_KEYS: signingKeys,
  };
}

/**
 * Starts the service with settings from its environment; it takes requests when this returns.
 * @param schedule when it publishes; undefined for on command only
 */
export async function startKeyroot(settings: NodeJS.ProcessEnv, schedule?: Schedule): Promise<Keyroot> {
  const child = startChild<KeyrootOrder, unknown>(PROCESS, settings);
  const { origin } = (await child.ask({ schedule })) as KeyrootReady;
  return {
    origin,
    cpu: async () => (await child.ask({})) as number,
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
