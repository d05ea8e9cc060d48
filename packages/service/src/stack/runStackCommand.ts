import { print, untilStopped } from "@keyroot/operator/commands";
import { TEST_CHECKPOINT } from "@keyroot/operator/testing";
import { stackPorts } from "./stackPorts.ts";
import { startStack } from "./startStack.ts";
import type { HardhatHost } from "@keyroot/operator/hardhat";

/**
 * The `keyroot stack` command starts a chain, a registry, a file host and a simulated beacon endpoint on this machine.
 * If PGlite is installed, the command also starts a partner service. The stack runs until Ctrl-C.
 */
export default async function runStackCommand(
  { port, json }: { port: number; json: boolean },
  { hre }: HardhatHost,
): Promise<undefined> {
  const stopped = untilStopped();
  const { chain, files, beacon, service: servicePort } = stackPorts(port);
  const ports = { chain, files, beacon, ...(hasDatabase() && { service: servicePort }) };
  const stack = await startStack(hre, { ports, announce: true });
  try {
    const { rpcUrl, merkleUrl, filesDir, contract, chainId, beaconUrl, service, announced } = stack;
    if (json)
      print(
        JSON.stringify({
          ...{ rpcUrl, merkleUrl, filesDir, contract, chainId, beaconUrl, checkpoint: TEST_CHECKPOINT },
          serviceUrl: service?.serviceUrl,
        }),
      );
    else {
      print(
        [
          `JSON-RPC      ${rpcUrl}  (chain ${chainId})`,
          `registry      ${contract}`,
          `Merkle files  ${merkleUrl}  (from ${filesDir})`,
          `beacon        ${beaconUrl}  (simulated; checkpoint ${TEST_CHECKPOINT})`,
          `service       ${service === undefined ? NO_SERVICE : describeService(service.serviceUrl)}`,
          announced ? "Other commands in this project use this stack. Press Ctrl-C to stop it." : SECOND_STACK,
        ].join("\n"),
      );
    }
    await stopped;
  } finally {
    await stack.close();
  }
}

/** Whether PGlite, the service's development database, is installed. */
function hasDatabase(): boolean {
  try {
    import.meta.resolve("@electric-sql/pglite");
    return true;
  } catch {
    return false;
  }
}

const describeService = (url: string) =>
  [
    `${url}  (API description: ${url}/docs)`,
    "              For development: no rate limits, no hold period, data in memory. Keys are published on request.",
  ].join("\n");
const NO_SERVICE = "not started. It needs a database. Run 'npm install @electric-sql/pglite'";
const SECOND_STACK =
  "Another stack runs in this project. Other commands use the other stack. Press Ctrl-C to stop this stack.";
