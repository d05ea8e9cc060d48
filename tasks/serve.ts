import { readConfig } from "../src/service/config.ts";
import { startService } from "../src/service/server.ts";
import { untilStopped } from "../src/stack/untilStopped.ts";
import { command, print } from "./command.ts";

interface Args {
  json: boolean;
}

/** `keyroot serve`: the partner service, as its environment configures it, until Ctrl-C or SIGTERM. */
export default command(async ({ json }: Args) => {
  const stopped = untilStopped();
  const config = readConfig(process.env);
  const service = await startService(config);
  try {
    const { url } = service;
    const database = config.databaseUrl === undefined ? config.databaseFolder : "PostgreSQL";
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
