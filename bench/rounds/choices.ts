import hre from "hardhat";
import { TEST_CHECKPOINT } from "@keyroot/operator/testing";
import { startStack, type Stack } from "@keyroot/service/stack";
import { endpoints, type KeyRecord, oneEndpoint, ownNode, pinnedBlock, type VerifierOptions } from "keyroot";
import { auditors } from "keyroot/auditors";
import { lightClient } from "keyroot/light-client";
import { StatementHost, statementText } from "../../test/support/auditors/statementHost.ts";
import { signedBy, testAuditors } from "../../test/support/auditors/testAuditor.ts";
import type { BlockJson } from "../../test/support/chain/fiveEndpoints.ts";
import { publishLocally } from "../../test/support/chain/local.ts";
import { startEndpoint } from "../../test/support/chain/lyingEndpoint.ts";
import { rpc } from "../../test/support/support.ts";

/** The options of a verifier that depend on its trust. */
type Choice = () => Pick<VerifierOptions, "trust"> & Partial<VerifierOptions>;

/** A local stack with published keys, and everything that the choices of `trust` need. */
export interface World extends AsyncDisposable {
  stack: Stack;
  choices: Record<string, Choice>;
}

/** Starts a local stack and publishes the records. */
export async function startWorld(records: readonly KeyRecord[], usersPerFile: number): Promise<World> {
  const opened = new AsyncDisposableStack();
  const open = <T extends { close: () => Promise<unknown> }>(resource: T): T => {
    opened.defer(async () => {
      await resource.close();
    });
    return resource;
  };
  const stack = open(await startStack(hre, { ports: { chain: 0, files: 0, beacon: 0 } }));
  await publishLocally(stack, records, { usersPerFile, brotli: true });
  const head = (await rpc(stack.rpcUrl, "eth_getBlockByNumber", ["latest", false])) as BlockJson;
  const urls = await Promise.all([1, 2, 3].map(async () => open(await startEndpoint(stack.rpcUrl)).url));
  const signers = testAuditors("a", "b", "c");
  const statements = open(await StatementHost.start());
  statements.files.set("latest", signedBy(signers.slice(1), statementText(stack, head)));
  const keys = signers.map(({ key }) => key);
  const choices: World["choices"] = {
    oneEndpoint: () => ({ trust: oneEndpoint() }),
    ownNode: () => ({ trust: ownNode() }),
    pinnedBlock: () => ({ trust: pinnedBlock(head.hash) }),
    "endpoints, 2 of 3": () => ({ trust: endpoints({ required: 2 }), rpc: urls }),
    lightClient: () => ({ trust: lightClient({ urls: [stack.beaconUrl ?? ""], checkpoint: TEST_CHECKPOINT }) }),
    "auditors, 2 of 3": () => ({ trust: auditors({ keys, threshold: 2, urls: [statements.url] }) }),
  };
  return { stack, choices, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
