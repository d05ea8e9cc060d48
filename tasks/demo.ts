import {
  exitCodeOf,
  type Outcome,
  plural,
  print,
  type StopSignal,
  style,
  untilStopped,
} from "@keyroot/operator/commands";
import { type ExplorerServer, serveExplorer } from "@keyroot/operator/explorer";
import type { HardhatHost } from "@keyroot/operator/hardhat";
import { freePort, type Stack, stackPorts, startStack } from "@keyroot/operator/stack";
import { buildSite } from "@keyroot/web/build";
import { AdminClient } from "keyroot/admin";
import { type DemoListener, type DemoResult, runDemo } from "../demo/demo.ts";
import { startRelay } from "../demo/relay.ts";
import type { DemoArgs } from "./demoCommand.ts";

/** How many more endpoints visitors of the explorer can choose, to try a quorum. */
const RELAYS = 2;
/** The explorer's port, after the stack's first one. */
const EXPLORER_PORT = 3;

type Print = (text: string) => void;

/** `keyroot demo`: the demo on a stack of its own. With `--stay`, the stack runs on until Ctrl-C. */
export default async function demo({ stay, port, json }: DemoArgs, { hre }: HardhatHost): Promise<Outcome | undefined> {
  const stopping = new AbortController();
  const stopped = untilStopped().then((signal) => {
    stopping.abort(signal);
  });
  const say: Print = json ? () => undefined : print;

  say("Keyroot: every user's key is published once, and every client verifies the keys that a server sends.");
  // In a process of its own, while the demo runs.
  const built = stay ? buildSite() : undefined;
  built?.catch(() => undefined);
  const explorerPort = stay ? await freePort(port === 0 ? 0 : port + EXPLORER_PORT) : 0;
  const explorerUrl = stay ? `http://localhost:${explorerPort}/` : undefined;
  const ports = stackPorts(stay ? port : 0);
  const stack = await startStack(hre, { ports, announce: stay, ...(explorerUrl !== undefined && { explorerUrl }) });
  try {
    stopping.signal.throwIfAborted();
    say(stackLines(stack));
    await using result = await runDemo(stack, printer(say), stopping.signal);
    if (!stay) {
      say(`\n${style("success", "The demo succeeded.")}`);
      return json ? { json: summaryOf(stack, result), text: "" } : undefined;
    }
    await built;
    await using servers = new AsyncDisposableStack();
    const relays = await Promise.all(Array.from({ length: RELAYS }, () => startRelay(stack.rpcUrl)));
    for (const relay of relays) servers.defer(() => relay.close());
    const rpc = [stack.rpcUrl, ...relays.map(({ url }) => url)];
    const explorer = servers.use(await startExplorer(stack, rpc, result, explorerPort));
    const links = { explorerUrl: explorer.url, dashboardUrl: await inviteToDashboard(stack, result) };
    say(stayLines(result, stack.announced, links));
    if (json) print(JSON.stringify(readiness(stack, result, links)));
    await stopped;
  } catch (error) {
    // Ctrl-C during the demo makes the current step fail, which is no error.
    if (!stopping.signal.aborted) throw error;
    process.exitCode = exitCodeOf(stopping.signal.reason as StopSignal);
  } finally {
    await stack.close();
  }
  return undefined;
}

interface Links {
  explorerUrl: string;
  /** Works once, within 15 minutes. */
  dashboardUrl: string;
}

/** A link that signs in the sample partner's administrator. */
async function inviteToDashboard({ service }: Stack, { bizId }: DemoResult): Promise<string> {
  if (service === undefined) throw new Error("The stack has no partner service.");
  return (await new AdminClient(service).invite(bizId, "Sample administrator")).url;
}

/** The explorer of the stack, with its users and the attacker's servers. */
function startExplorer(
  { chainId, contract, merkleUrl }: Stack,
  rpc: readonly string[],
  { records, attacks }: DemoResult,
  port: number,
): Promise<ExplorerServer> {
  const samples = records.map(({ userID }) => userID);
  return serveExplorer({ rpc, chainId, contract, merkleUrl, samples, attacks }, port);
}

function printer(print: Print): DemoListener {
  return {
    provisioned: ({ bizId, serverToken, users }) => {
      print(heading(2, "A partner's server creates its users. Each user's app registers a public key."));
      print(`     biz_id        ${bizId}`);
      print(`     server token  ${serverToken}  (shown once)`);
      for (const [region, some] of Map.groupBy(users, (user) => user.region)) {
        print(
          `     ${region.padEnd(13)} ${plural(some.length, "user")}, each with a refresh token and a registered key`,
        );
      }
    },
    registrations: (attacks) => {
      print(heading(3, "An attacker with a stolen token registers false keys, before anything is published:"));
      for (const { attack, description, outcome } of attacks)
        print(`     ${attack.padEnd(18)} ${description.padEnd(60)} ${style("success", outcome)}`);
    },
    published: (batches) => {
      print(heading(4, "The service publishes the keys, one batch per region: first the file, then its root."));
      for (const { root, users, block } of batches) print(`     ${root}  ${plural(users, "user")}, block ${block}`);
    },
    verified: (count) => {
      print(heading(5, "A contact's app, a separate process, verifies each key from the service against the chain."));
      print(`     ${style("success", "verified")} ${count} of ${count}`);
      print(heading(6, "An attacker, another process, sits between the app and the servers. The app rejects:"));
    },
    rejected: (attack, description, code) => {
      print(`     ${attack.padEnd(18)} ${description.padEnd(60)} ${style("success", code)}`);
    },
  };
}

function heading(step: number, text: string): string {
  return `\n${style("heading", `${step}  ${text}`)}\n`;
}

function stackLines({ rpcUrl, merkleUrl, contract, chainId, service }: Stack): string {
  return [
    heading(1, "A chain, the registry, a file host and the partner service run on this machine."),
    `     JSON-RPC      ${rpcUrl} (chain ${chainId})`,
    `     registry      ${contract}`,
    `     Merkle files  ${merkleUrl}`,
    `     service       ${service?.baseUrl}  (API description: ${service?.baseUrl}/docs)`,
  ].join("\n");
}

function stayLines({ records }: DemoResult, announced: boolean, { explorerUrl, dashboardUrl }: Links): string {
  const verify = `npx hardhat keyroot verify ${records[0]?.userID}`;
  const succeeded = `${style("success", "The demo succeeded.")} Verify a key in your browser, or try an attack:\n\n     ${explorerUrl}\n\nSign in to the partner's dashboard. The link works once, within 15 minutes; then you add a passkey:\n\n     ${dashboardUrl}\n`;
  return announced
    ? `\n${succeeded}\nThe stack stays up until Ctrl-C. In another terminal, try:\n\n     ${verify}\n     npx hardhat keyroot status`
    : `\n${succeeded}\nThe stack stays up until Ctrl-C. Commands without --rpc use the other stack that runs in this project.`;
}

function summaryOf({ contract }: Stack, { published, verified, rejected, registrations }: DemoResult): object {
  const users = published.reduce((sum, { users }) => sum + users, 0);
  return { published: users, verified, rejected, registrations, contract, roots: published.map(({ root }) => root) };
}

function readiness(stack: Stack, { records, bizId, serverToken }: DemoResult, links: Links): object {
  const { rpcUrl, merkleUrl, merkleDir, contract, chainId, service } = stack;
  const users = records.map(({ userID }) => userID);
  const place = { rpcUrl, merkleUrl, merkleDir, contract, chainId, baseUrl: service?.baseUrl, ...links };
  return { ...place, bizId, serverToken, users };
}
