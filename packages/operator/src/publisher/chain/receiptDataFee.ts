import { parseQuantity } from "keyroot/internal/ethereum";

/**
 * Returns the L1 fee and the operator fee that an OP-stack chain charged for a transaction, as a sum in wei. On other
 * chains, it is 0. Source of the operator fee before and after the upgrade Jovian:
 * https://specs.optimism.io/protocol/isthmus/exec-engine.html, section "Operator Fee".
 * @param receipt the receipt from the endpoint
 * @throws TransportError RPC_ANSWER_INVALID
 */
export function receiptDataFee(receipt: Readonly<Record<string, unknown>>, gasUsed: number): bigint {
  const read = (name: string) => parseQuantity(receipt[name] ?? "0x0");
  const scaled = BigInt(gasUsed) * read("operatorFeeScalar");
  // The upgrade Jovian added this field to receipts. Jovian also changed the unit of the operator fee's scalar.
  const isJovian = (receipt["daFootprintGasScalar"] ?? null) !== null;
  return read("l1Fee") + (isJovian ? scaled * 100n : scaled / 1_000_000n) + read("operatorFeeConstant");
}
