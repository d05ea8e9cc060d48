import { KeyrootError } from "keyroot/internal/errors";
import { parseQuantity } from "keyroot/internal/ethereum";
import { REGIONS } from "keyroot/internal/identity";
import { RPC_LIMITS, rpcCaller, withTimeout } from "keyroot/internal/transport";
import { DEFAULT_RETRY } from "@keyroot/operator/shared";
import { openStore, Registry } from "@keyroot/operator/publisher";
import type { Database } from "../api/database/database.ts";
import type { PublisherReport } from "../publishing/publisherReport.ts";
import { writeReport } from "../publishing/publisherState.ts";
import type { ChainConfig } from "../config/publisherConfig.ts";

/** A part of the report with the error itself. `error` is undefined if the part works. */
type WithError<Part> = Omit<Part, "error"> & { error: unknown };
type CheckedChain = WithError<PublisherReport["chain"]>;
type CheckedStore = WithError<PublisherReport["stores"][number]>;

/** Time limit of a check in ms. A check that takes longer has failed. */
const CHECK_MS = 5_000;
/** A root without a file. */
const NO_ROOT = "0".repeat(64);

/**
 * Checks the chain and the stores, and saves the result for the service.
 * @param every seconds between two scheduled publications, or null without a schedule
 * @returns the parts that fail, with their errors
 */
export async function reportParts(
  home: Database,
  config: ChainConfig,
  every: number | null,
): Promise<{ part: string; error: unknown }[]> {
  const [chain, stores] = await Promise.all([checkChain(config), checkStores(config)]);
  const withCode = <Part extends { error: unknown }>(part: Part) => ({
    ...part,
    error: part.error === undefined ? null : codeOf(part.error),
  });
  await writeReport(home, { chain: withCode(chain), stores: stores.map(withCode), every });
  const parts = [
    { part: "the chain", error: chain.error },
    ...stores.map(({ region, error }) => ({ part: `the store of ${region}`, error })),
  ];
  return parts.filter(({ error }) => error !== undefined);
}

/** Checks that the endpoint serves the configured chain, and reads the owner's balance. */
async function checkChain(chain: ChainConfig): Promise<CheckedChain> {
  const { chainId, contract, rpcUrl, allowHttp } = chain;
  const identity = { chain_id: chainId, contract };
  try {
    return await withTimeout("The check of the chain", CHECK_MS, undefined, async (signal) => {
      const { maxBytes } = RPC_LIMITS;
      const call = rpcCaller(rpcUrl, { maxBytes, timeoutMs: CHECK_MS, signal, allowHttp });
      const registry = await Registry.connect(call, contract, { ...DEFAULT_RETRY, retries: 0 });
      await registry.chain.verifyChainId(chainId);
      const { owner } = registry;
      const [block, balance, fee] = await Promise.all([
        registry.chain.block("latest"),
        registry.chain.request("eth_getBalance", [owner, "latest"], parseQuantity),
        registry.chain.request("eth_gasPrice", [], parseQuantity),
      ]);
      const state = { block: block.number, owner, balance: String(balance), fee: String(fee) };
      return { ...identity, error: undefined, state };
    });
  } catch (error) {
    return { ...identity, error, state: null };
  }
}

/** Checks that the store of each region's Merkle-tree files can be read. */
function checkStores({ files }: ChainConfig): Promise<CheckedStore[]> {
  return Promise.all(
    REGIONS.map(async (region) => {
      const location = files[region];
      try {
        const read = async () => (await openStore(location)).get(NO_ROOT);
        await withTimeout("The check of the store", CHECK_MS, undefined, read);
        return { region, location, error: undefined };
      } catch (error) {
        const isMissing = error instanceof KeyrootError && error.code === "FILE_NOT_FOUND";
        return { region, location, error: isMissing ? undefined : error };
      }
    }),
  );
}

/** Returns an error's code. UNEXPECTED stands for errors without a code. */
export function codeOf(error: unknown): string {
  return error instanceof KeyrootError ? error.code : "UNEXPECTED";
}
