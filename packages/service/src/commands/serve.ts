import { command, json } from "@keyroot/operator/definition";

/**
 * The `keyroot serve` command runs the partner service until Ctrl-C or SIGTERM. It is configured by environment
 * variables, and holds no key of the registry's owner.
 */
export const serve = command(
  {
    summary: "Run the partner service until Ctrl-C. Configure it with environment variables",
    options: { json },
  },
  async ({ json }) => {
    const { printOutcome, style, untilStopped } = await import("@keyroot/operator/commands");
    const { readConfig } = await import("../config/readConfig.ts");
    const { startService } = await import("../serve/startService.ts");
    const { describeService } = await import("./describeConfig.ts");
    const stopped = untilStopped();
    const config = readConfig(process.env);
    const service = await startService(config);
    try {
      const { url, monitoringUrl } = service;
      const database = config.databaseUrl === undefined ? (config.databaseFolder ?? "memory") : "PostgreSQL";
      const lines = [
        `Partner service    ${style("link", url)}`,
        `API description    ${style("link", `${url}/docs`)}`,
        ...(monitoringUrl === undefined ? [] : [`Monitoring         ${style("link", `${monitoringUrl}/readyz`)}`]),
        `Database           ${database}`,
        ...describeService(config),
        "Press Ctrl-C to stop. The service finishes the requests in progress first.",
      ];
      printOutcome({ json: { url, monitoringUrl }, text: lines.join("\n") }, json);
      await stopped;
    } finally {
      await service.close();
    }
    return undefined;
  },
);
