import type { HardhatHost } from "@keyroot/operator/hardhat";
import type { style as Style } from "@keyroot/operator/commands";
import { command, flag, integer, json, keyType } from "@keyroot/operator/definition";

/**
 * The `npx hardhat keyroot stack` command starts a chain, a registry, a file host and a simulated beacon endpoint on
 * this machine. If PGlite is installed, it also starts a partner service with its publisher. The stack runs until
 * Ctrl-C.
 */
export const stack = command(
  {
    summary:
      "Run a chain, the registry, a file host, a simulated beacon endpoint and the partner service locally until Ctrl-C",
    options: {
      port: integer(
        "port",
        "Port of the chain. The file host, the service and the beacon endpoint get the next ports. If a port is in use, the next free one is used. 0 means any free port",
        { min: 0, max: 65_535, default: 8545 },
      ),
      keyType,
      accounts: flag("All user ids of the partner service are accounts, so users can change their keys"),
      json,
    },
  },
  async ({ port, keyType, accounts, json }, { hre }: HardhatHost) => {
    const { print, printOutcome, style, untilStopped } = await import("@keyroot/operator/commands");
    const { TEST_CHECKPOINT } = await import("@keyroot/operator/testing");
    const { stackPorts, takenPortsLine } = await import("../stack/stackPorts.ts");
    const { startStack } = await import("../stack/startStack.ts");
    const stopped = untilStopped();
    const { chain, files, beacon, service: servicePort } = stackPorts(port);
    const ports = { chain, files, beacon, ...(hasDatabase() && { service: servicePort }) };
    const running = await startStack(hre, {
      ports,
      announce: true,
      keyType,
      ...(accounts && { accounts: "required" }),
      ...(!json && {
        onStep: (step) => {
          print(style("dim", step));
        },
      }),
    });
    try {
      const { rpcUrl, merkleUrl, filesDir, contract, chainId, beaconUrl, service, announced } = running;
      const outcome = {
        rpcUrl,
        merkleUrl,
        filesDir,
        contract,
        chainId,
        keyType,
        beaconUrl,
        checkpoint: TEST_CHECKPOINT,
      };
      const takenPorts = takenPortsLine([
        [ports.chain, rpcUrl],
        [ports.files, merkleUrl],
        [ports.beacon, beaconUrl],
        [ports.service, service?.serviceUrl],
      ]);
      const lines = [
        `JSON-RPC      ${style("link", rpcUrl)}  (chain ${chainId})`,
        `registry      ${contract}  (${keyType} keys)`,
        `Merkle files  ${style("link", merkleUrl)}  (from ${filesDir})`,
        `beacon        ${style("link", beaconUrl ?? "")}  (simulated)`,
        `checkpoint    ${TEST_CHECKPOINT}`,
        `service       ${service === undefined ? NO_SERVICE : describeService(service.serviceUrl, style)}`,
        ...[takenPorts].filter(Boolean),
        announced ? "Other commands in this project use this stack. Press Ctrl-C to stop it." : SECOND_STACK,
      ];
      printOutcome({ json: { ...outcome, serviceUrl: service?.serviceUrl }, text: lines.join("\n") }, json);
      await stopped;
    } finally {
      await running.close();
    }
    return undefined;
  },
);

/** Whether PGlite, the service's development database, is installed. */
function hasDatabase(): boolean {
  try {
    import.meta.resolve("@electric-sql/pglite");
    return true;
  } catch {
    return false;
  }
}

const describeService = (url: string, style: typeof Style) =>
  [
    `${style("link", url)}  (API description: ${style("link", `${url}/docs`)})`,
    "              For development: no rate limits, no hold period, data in memory. Keys are published on request.",
  ].join("\n");
const NO_SERVICE = "not started. It needs a database. Run 'npm install @electric-sql/pglite'";
const SECOND_STACK =
  "Another stack runs in this project. Other commands use the other stack. Press Ctrl-C to stop this stack.";
