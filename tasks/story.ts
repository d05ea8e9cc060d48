import { constants } from "node:os";
import type { PublishedRoot } from "../src/publisher/publish.ts";
import { startStack, type Stack } from "../src/stack/stack.ts";
import { untilStopped } from "../src/stack/untilStopped.ts";
import { type Listener, tellStory, type Told } from "../src/story/story.ts";
import { command, print } from "./command.ts";

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
  const ports = stay ? { chain: port, files: port === 0 ? 0 : port + 1 } : { chain: 0, files: 0 };
  const stack = await startStack(hre, { ports, announce: stay });
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
    published: (roots) => {
      say("\n2  The users' keys are published: first each batch's file, then its root.\n");
      for (const { root, addedCount, blockNumber } of roots)
        say(`     ${root}  ${addedCount} users, block ${blockNumber}`);
    },
    verified: (count) => {
      say("\n3  A friend's app, a process of its own, checks each key it was handed against the chain.\n");
      say(`     ${count} of ${count} verified`);
      say("\n4  An attacker, another process, sits between the app and the servers. The app refuses:\n");
    },
    refused: (attack, deed, code) => {
      say(`     ${attack.padEnd(18)} ${deed.padEnd(60)} ${code}`);
    },
  };
}

function stackLines({ rpcUrl, merkleUrl, contract, chainId }: Stack): string {
  return [
    "1  A chain, the contract and a file host run on this machine.\n",
    `     JSON-RPC      ${rpcUrl} (chain ${chainId})`,
    `     contract      ${contract}`,
    `     Merkle files  ${merkleUrl}`,
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

function readiness({ rpcUrl, merkleUrl, merkleDir, contract, chainId }: Stack, { records }: Told): object {
  return { rpcUrl, merkleUrl, merkleDir, contract, chainId, users: records.map(({ userID }) => userID) };
}

function countUsers(published: readonly PublishedRoot[]): number {
  return published.reduce((sum, { addedCount }) => sum + addedCount, 0);
}
