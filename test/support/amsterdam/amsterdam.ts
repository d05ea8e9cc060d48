import { join } from "node:path";
import { type Anvil, startChainProcess } from "../anvil/anvil.ts";
import { installLocked } from "../packages/installLocked.ts";

/**
 * Starts a local chain with the rules of the Amsterdam fork. It runs in a process and an engine of its own, because
 * Hardhat's engine lacks these rules.
 * @param transactionGas the gas limit of a transaction
 */
export async function startAmsterdam(transactionGas: number): Promise<Anvil> {
  const folder = await installLocked(import.meta.dirname, "amsterdam", "install");
  return startChainProcess(process.execPath, [join(import.meta.dirname, "chain.mjs"), folder, String(transactionGas)]);
}
