import { readConfig } from "../config/readConfig.ts";
import { type RunningService, startService } from "../serve/startService.ts";
import type { ArgsOf } from "./commandDefinitions.ts";
import { print, untilStopped } from "@keyroot/operator/commands";

/**
 * The `keyroot serve` command runs the partner service until Ctrl-C or SIGTERM. Environment variables configure the
 * service.
 */
export default async function serve({ every, atLeast, json }: ArgsOf<"serve">): Promise<undefined> {
  const stopped = untilStopped();
  const config = readConfig(process.env);
  const service = await startService({ ...config, ...(every > 0 && { schedule: { every, atLeast } }) });
  try {
    const { url, monitoringUrl } = service;
    const database = config.databaseUrl === undefined ? (config.databaseFolder ?? "memory") : "PostgreSQL";
    print(json ? JSON.stringify({ url, monitoringUrl }) : describeService(service, database));
    await stopped;
  } finally {
    await service.close();
  }
}

function describeService({ url, monitoringUrl }: RunningService, database: string): string {
  return [
    `Partner service    ${url}`,
    `API description    ${url}/docs`,
    ...(monitoringUrl === undefined ? [] : [`Monitoring         ${monitoringUrl}/readyz`]),
    `Database           ${database}`,
    "Press Ctrl-C to stop. The service finishes the requests in progress first.",
  ].join("\n");
}
