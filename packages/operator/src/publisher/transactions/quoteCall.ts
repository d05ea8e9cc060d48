import { worstDataFeeOf } from "../chain/dataFee.ts";
import type { Fees } from "../chain/fees.ts";
import { type AddRootCall, GAS_MARGIN, type Registry } from "../chain/registry.ts";
import type { Attempt } from "../journal/journal.ts";

/**
 * Returns the gas limit and the data fee with which a call can be sent now. The values in the journal are never used
 * for this, because they were estimated for another state of the chain. The access list or the rules of the fork may
 * also have changed since.
 * @param estimated the node's estimate for this call
 * @param sentGas the gas limit with which this run sent the call before, or 0. The result is never lower. An estimate
 *   is low while the users have roots, but a reorganization may remove these roots again
 * @throws TransportError the errors of `chain`
 */
export async function quoteCall(
  registry: Registry,
  call: AddRootCall,
  { estimated, sentGas, fees }: { estimated: number; sentGas: number; fees: Fees },
): Promise<Required<Pick<Attempt, "gas" | "dataFee">>> {
  const dataFee = await registry.fetchDataFee(call, estimated + GAS_MARGIN, fees);
  // On Arbitrum, the gas for bytes may double before the transaction is in a block.
  return { gas: Math.max(estimated + GAS_MARGIN + dataFee.gas, sentGas), dataFee: worstDataFeeOf(dataFee) };
}
