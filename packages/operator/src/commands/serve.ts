import { ArgumentError } from "keyroot/errors";
import { readConfig } from "../service/config.ts";
import { startService } from "../service/startService.ts";
import { untilStopped } from "../stack/untilStopped.ts";
import { command, print } from "./command.ts";

interface Args {
  every: number;
  atLeast: number;
  json: boolean;
}

/** `keyroot serve`: the partner service, as its environment configures it, until Ctrl-C or SIGTERM. */
export default command(async ({ every, atLeast, json }: Args) => {
  const stopped = untilStopped();
  const config = readConfig(process.env);
  if (every < 0 || atLeast < 1) {
    const message = "--every is a number of seconds, 0 or more, and --at-least a number of keys, 1 or more.";
    throw new ArgumentError("ARGUMENT_INVALID", message);
  }
  const service = await startService({ ...config, ...(every > 0 && { schedule: { every, atLeast } }) });
  try {
    const { url } = service;
    const database = config.databaseUrl === undefined ? (config.databaseFolder ?? "memory") : "PostgreSQL";
    print(json ? JSON.stringify({ url }) : servingLines(url, database));
    await stopped;
  } finally {
    await service.close();
  }
  return undefined;
});

function servingLines(url: string, database: string | undefined): string {
  return [
    `The partner service   ${url}`,
    `its description       ${url}/docs`,
    `its database          ${database}`,
    "Ctrl-C ends it, once what is under way is answered.",
  ].join("\n");
}
