import { randomBytes, randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeSigningKey, openDatabases } from "@keyroot/service";
import type { Schedule } from "@keyroot/service/publisher";
import { type Child, startChild } from "../processes/childProcess.ts";
import type { Postgres } from "../postgres/postgres.ts";
import type { StartedService, StartRequest } from "./runService.ts";

const PROGRAM = new URL("runService.ts", import.meta.url);

/** The service in a separate process. */
export interface ServiceProcess extends Omit<Child<never, unknown>, "send"> {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  /** Returns the processor time of the service, in µs. */
  cpu(): Promise<number>;
}

/**
 * Returns environment variables for a service over a new database with all tables. It has an admin token and a signing
 * key, but no rate limit and no hold period.
 * @param postgres its folder receives the file of the signing key
 */
export async function serviceEnvironment(postgres: Pick<Postgres, "createDatabase" | "folder">, connections: number) {
  const url = await postgres.createDatabase();
  await using databases = await openDatabases({ url });
  await databases.migrate();
  const signingKeys = join(postgres.folder, `${randomUUID()}.jwks.json`);
  await writeFile(signingKeys, JSON.stringify({ keys: [await makeSigningKey()] }), { mode: 0o600 });
  return {
    DATABASE_URL: url,
    KEYROOT_ADMIN_TOKEN: randomBytes(32).toString("base64url"),
    KEYROOT_SERVICE_URL: "https://keyroot.example",
    KEYROOT_DATABASE_CONNECTIONS: String(connections),
    KEYROOT_HOLD_PERIOD: "0",
    KEYROOT_LOG_LEVEL: "fatal",
    KEYROOT_MONITORING_PORT: "0",
    KEYROOT_PORT: "0",
    KEYROOT_RATE_LIMIT: "0",
    KEYROOT_SIGNING_KEYS: signingKeys,
  };
}

/**
 * Starts the service with these environment variables, and returns when it accepts requests.
 * @param schedule the publishing schedule; undefined publishes only on request
 */
export async function startServiceProcess(
  environment: NodeJS.ProcessEnv,
  schedule?: Schedule,
): Promise<ServiceProcess> {
  const child = startChild<StartRequest, unknown>(PROGRAM, environment);
  const { origin } = (await child.send({ schedule })) as StartedService;
  return { ...child, origin, cpu: async () => (await child.send({})) as number };
}
