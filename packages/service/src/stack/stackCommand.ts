import type { Definition } from "@keyroot/operator/definition";

/** The `--port` option of the `stack` and `demo` commands. */
const port = {
  kind: "integer",
  value: "port",
  description:
    "Port of the chain. The file host, the service and the beacon endpoint get the next ports. If a port is in use, the command uses the next free port. 0 means any port",
  min: 0,
  max: 65_535,
  default: 8545,
} as const;

const definition = {
  summary:
    "Run a chain, the registry, a file host, a simulated beacon endpoint and the partner service locally until Ctrl-C",
  options: { port, json: { kind: "flag", description: "Print one JSON object instead of text" } },
} as const satisfies Definition;

/** `npx hardhat keyroot stack`, a command that needs Hardhat's simulated chain. */
export const stackCommand = { ...definition, load: () => import("./runStackCommand.ts") };
