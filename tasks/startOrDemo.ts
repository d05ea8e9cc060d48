import {
  exitCodeOfSignal,
  type Outcome,
  print,
  printOutcome,
  type StopSignal,
  style,
  untilStopped,
} from "@keyroot/operator/commands";
import { openExplorer } from "@keyroot/operator/explorer";
import type { HardhatHost } from "@keyroot/operator/hardhat";
import { type Stack, stackPorts, startStack, takenPortsLine } from "@keyroot/service/stack";
import { buildSite } from "@keyroot/web/build";
import type { KeyTypeName } from "keyroot/internal/identity";
import { type Links, openLinks, readyLines } from "../demo/links.ts";
import { printer, stackLines } from "../demo/printer.ts";
import { type DemoResult, runDemo } from "../demo/runDemo.ts";

/** The explorer's port, relative to the stack's first port. */
const EXPLORER_PORT = 3;

type Print = (text: string) => void;

/**
 * Runs the demo on a new local stack, for `npm start` and `npm run demo`. With `--keep-running`, the stack stays up
 * until Ctrl-C.
 */
export async function startOrDemo(
  { keepRunning, port, keyType, json }: { keepRunning: boolean; port: number; keyType: KeyTypeName; json: boolean },
  { hre }: HardhatHost,
): Promise<Outcome | undefined> {
  const say: Print = json ? () => undefined : print;
  const stopping = new AbortController();
  const stopped = untilStopped().then((signal) => {
    say("\nStopping the local stack.");
    stopping.abort(signal);
  });

  say("Keyroot: every user's key is published once, and every client verifies the keys");
  say("that a server sends.\n");
  // Runs in a separate process during the demo.
  const built = keepRunning ? buildSite() : undefined;
  built?.catch(() => undefined);
  // The dashboard links to the explorer, so it listens first. The demo decides what it shows.
  await using explorer = keepRunning ? await openExplorer(port === 0 ? 0 : port + EXPLORER_PORT) : undefined;
  const ports = stackPorts(keepRunning ? port : 0);
  const stack = await startStack(hre, {
    ports,
    announce: keepRunning,
    keyType,
    onStep: (step) => {
      say(style("dim", `     ${step}`));
    },
    ...(explorer !== undefined && { explorerUrl: explorer.url }),
  });
  try {
    stopping.signal.throwIfAborted();
    say(stackLines(stack));
    const takenPorts = takenPortsLine([
      [ports.chain, stack.rpcUrl],
      [ports.files, stack.merkleUrl],
      [ports.beacon, stack.beaconUrl],
      [ports.service, stack.service?.serviceUrl],
    ]);
    if (takenPorts !== "") say(`     ${takenPorts}`);
    await using result = await runDemo(stack, printer(say), stopping.signal);
    say(`\n${style("success", "The demo succeeded.")}`);
    if (explorer === undefined) return json ? { json: summaryOf(stack, result), text: "" } : undefined;
    await built;
    await using servers = new AsyncDisposableStack();
    const links = await openLinks(stack, result, explorer, servers);
    say(readyLines(result, stack.announced, links));
    if (json) printOutcome({ json: readinessOf(stack, result, links), text: "" }, true);
    await stopped;
  } catch (error) {
    // Ctrl-C during the demo makes the current step fail. That is not an error.
    if (!stopping.signal.aborted) throw error;
    process.exitCode = exitCodeOfSignal(stopping.signal.reason as StopSignal);
  } finally {
    await stack.close();
  }
  return undefined;
}

/** The object that the demo prints with `--json`. */
export function summaryOf({ contract }: Stack, { published, verified, rejected, registrations }: DemoResult) {
  const users = published.reduce((sum, { users }) => sum + users, 0);
  return { published: users, verified, rejected, registrations, contract, roots: published.map(({ root }) => root) };
}

/** The object that the demo prints with `--keep-running --json` when everything is up. */
export function readinessOf(stack: Stack, { records, bizID, serverToken }: DemoResult, links: Links) {
  const { rpcUrl, merkleUrl, filesDir, contract, chainId, keyType, beaconUrl, service } = stack;
  const users = records.map(({ userID }) => userID);
  const place = {
    rpcUrl,
    merkleUrl,
    filesDir,
    contract,
    chainId,
    keyType,
    beaconUrl,
    serviceUrl: service?.serviceUrl,
    ...links,
  };
  return { ...place, bizID, serverToken, users };
}
