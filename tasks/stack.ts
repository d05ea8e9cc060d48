import { stackPorts } from "@keyroot/operator/stack";
import { startStack } from "@keyroot/operator/stack";
import { untilStopped } from "@keyroot/operator/stack";
import { command, print } from "@keyroot/operator/commands";

interface Args {
  port: number;
  json: boolean;
}

/** `keyroot stack`: chain, contract, file host and partner service on this machine, until Ctrl-C. */
export default command(async ({ port, json }: Args, hre) => {
  const stopped = untilStopped();
  const stack = await startStack(hre, { ports: stackPorts(port), announce: true });
  try {
    const { rpcUrl, merkleUrl, merkleDir, contract, chainId, service, announced } = stack;
    if (json) print(JSON.stringify({ rpcUrl, merkleUrl, merkleDir, contract, chainId, baseUrl: service?.baseUrl }));
    else {
      print(
        [
          `JSON-RPC      ${rpcUrl}  (chain ${chainId})`,
          `contract      ${contract}`,
          `Merkle files  ${merkleUrl}  (from ${merkleDir})`,
          `service       ${service?.baseUrl}  (described at ${service?.baseUrl}/docs)`,
          announced ? "The other commands find this stack by themselves. Ctrl-C ends it." : ANOTHER,
        ].join("\n"),
      );
    }
    await stopped;
  } finally {
    await stack.close();
  }
  return undefined;
});

const ANOTHER = "Another stack runs in this project: the other commands find that one. Ctrl-C ends this one.";
