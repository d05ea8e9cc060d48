import { constants } from "node:os";
import { stackPorts } from "@keyroot/operator/stack";
import { startStack, type Stack } from "@keyroot/operator/stack";
import { untilStopped } from "@keyroot/operator/stack";
import { type Listener, tellStory, type Told } from "../demo/demo.ts";
import { command, print } from "@keyroot/operator/commands";

interface Args {
  stay: boolean;
  port: number;
  json: boolean;
}

/** `keyroot story`: the whole of it on a stack of its own, which with `--stay` runs on until Ctrl-C. */
export default command(async ({ stay, port, json }: Args, hre) => {
  const stopping = new AbortController();
  const stopped = untilStopped().then((signal) => {
    stopping.abort(signal);
  });
  const say = json ? () => undefined : print;

  say("Keyroot: every user's key is published once, and no client takes a server's word for it.\n");
  const stack = await startStack(hre, { ports: stackPorts(stay ? port : 0), announce: stay });
  try {
    stopping.signal.throwIfAborted();
    say(stackLines(stack));
    const told = await tellStory(stack, narrator(say), stopping.signal);
    if (!stay) {
      say("\nAll as told.");
      return json ? { json: summary(stack, told), text: "" } : undefined;
    }
    say(stayLines(told, stack.announced));
    if (json) print(JSON.stringify(readiness(stack, told)));
    await stopped;
  } catch (error) {
    // Ctrl-C in the middle of the story: what was under way fails, which is nobody's news.
    if (!stopping.signal.aborted) throw error;
    process.exitCode = 128 + constants.signals[stopping.signal.reason as "SIGINT" | "SIGTERM"];
  } finally {
    await stack.close();
  }
  return undefined;
});

function narrator(say: (text: string) => void): Listener {
  return {
    provisioned: ({ bizId, serverToken, users }) => {
      say(
        "\n2  A partner's day: its server creates a shadow user for each of its users, whose app registers a public key.\n",
      );
      say(`     biz_id        ${bizId}`);
      say(`     server token  ${serverToken}  (shown once)`);
      for (const [region, those] of Map.groupBy(users, (user) => user.region))
        say(`     ${region.padEnd(13)} ${those.length} users, each with a refresh token and a registered key`);
    },
    published: (batches) => {
      say("\n3  The users' keys are published, region by region: first a batch's file, then its root.\n");
      for (const { root, users, block } of batches) say(`     ${root}  ${users} users, block ${block}`);
    },
    verified: (count) => {
      say("\n4  A friend's app, a process of its own, checks each key that the service hands out against the chain.\n");
      say(`     ${count} of ${count} verified`);
      say("\n5  An attacker, another process, sits between the app and the servers. The app refuses:\n");
    },
    refused: (attack, deed, code) => {
      say(`     ${attack.padEnd(18)} ${deed.padEnd(60)} ${code}`);
    },
  };
}

function stackLines({ rpcUrl, merkleUrl, contract, chainId, service }: Stack): string {
  return [
    "1  A chain, the contract, a file host and the partner service run on this machine.\n",
    `     JSON-RPC      ${rpcUrl} (chain ${chainId})`,
    `     contract      ${contract}`,
    `     Merkle files  ${merkleUrl}`,
    `     service       ${service?.baseUrl}  (described at ${service?.baseUrl}/docs)`,
  ].join("\n");
}

function stayLines({ records }: Told, announced: boolean): string {
  const hint = `npx hardhat keyroot verify ${records[0]?.userID}`;
  return announced
    ? `\nAll as told. It stays up until Ctrl-C. In another terminal:\n\n     ${hint}\n     npx hardhat keyroot status`
    : "\nAll as told. It stays up until Ctrl-C; commands without --rpc find the other stack that runs in this project.";
}

function summary({ contract }: Stack, { published, verified, refused }: Told): object {
  return { published: countUsers(published), verified, refused, contract, roots: published.map(({ root }) => root) };
}

function readiness(stack: Stack, { records, bizId, serverToken }: Told): object {
  const { rpcUrl, merkleUrl, merkleDir, contract, chainId, service } = stack;
  const users = records.map(({ userID }) => userID);
  return { rpcUrl, merkleUrl, merkleDir, contract, chainId, baseUrl: service?.baseUrl, bizId, serverToken, users };
}

function countUsers(published: Told["published"]): number {
  return published.reduce((sum, { users }) => sum + users, 0);
}
