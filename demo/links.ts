/** The links that `npm start` prints: the explorer and the sample partner's dashboard. */
import type { OpenedExplorer } from "@keyroot/operator/explorer";
import { TEST_CHECKPOINT } from "@keyroot/operator/testing";
import { AdminClient } from "@keyroot/client/operator";
import type { Stack } from "@keyroot/service/stack";
import { style } from "@keyroot/operator/commands";
import { startRelay } from "./relay.ts";
import type { DemoResult } from "./runDemo.ts";

/** Number of additional endpoints in the explorer. With them, visitors can require that several endpoints agree. */
const RELAYS = 2;

export interface Links {
  explorerUrl: string;
  /** The sign-in link of the dashboard, which works once, within 15 minutes. */
  dashboardUrl: string;
}

/**
 * Serves the explorer, with the users of the stack and the attacker's servers. It also invites the administrator of the
 * sample partner.
 * @param servers receives the started servers, which the caller closes
 */
export async function openLinks(
  { rpcUrl, chainId, contract, keyType, merkleUrl, beaconUrl, service }: Stack,
  { records, attacks, bizID }: DemoResult,
  explorer: OpenedExplorer,
  servers: AsyncDisposableStack,
): Promise<Links> {
  if (service === undefined) throw new Error("The stack has no partner service.");
  const relays = await Promise.all(Array.from({ length: RELAYS }, () => startRelay(rpcUrl)));
  for (const relay of relays) servers.defer(() => relay.close());
  const rpc = [rpcUrl, ...relays.map(({ url }) => url)];
  const samples = records.map(({ userID }) => userID);
  const lightClient = beaconUrl === undefined ? undefined : { urls: [beaconUrl], checkpoint: TEST_CHECKPOINT };
  const config = { rpc, chainId, contract, keyType, merkleUrl, lightClient, samples, attacks };
  await explorer.serve(config);
  const { url: dashboardUrl } = await new AdminClient(service).invite(bizID, "Sample administrator");
  return { explorerUrl: explorer.url, dashboardUrl };
}

/** Returns the text with the links, which is printed after the demo. */
export function readyLines({ records }: DemoResult, announced: boolean, { explorerUrl, dashboardUrl }: Links): string {
  const link = (url: string) => `     ${style("link", url)}`;
  return [
    "",
    "Verify a key in your browser, or run all attacks there:",
    link(explorerUrl),
    "Sign in to the partner's dashboard, once, within 15 minutes; then add a passkey:",
    link(dashboardUrl),
    ...(announced
      ? [
          "The stack stays up until Ctrl-C. In another terminal, try:",
          `     npx hardhat keyroot verify ${records[0]?.userID}`,
          "     npx hardhat keyroot status",
        ]
      : ["The stack stays up until Ctrl-C. Commands without --rpc use the other stack that runs in this project."]),
  ].join("\n");
}
