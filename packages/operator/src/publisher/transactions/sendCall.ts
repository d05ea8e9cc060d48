import { setTimeout as sleep } from "node:timers/promises";
import { isHash, parseSafeQuantity, toQuantity } from "keyroot/internal/ethereum";
import { ArgumentError, VerificationError } from "../../errors.ts";
import type { Chain, Receipt } from "../chain/chain.ts";
import { DataFees, worstDataFeeOf } from "../chain/dataFee.ts";
import { feesOf, feesToHex, gasPriceOf, limitPriorityFee, maxGasPriceOf, maxPriorityFeeOf } from "../chain/fees.ts";
import type { Registry } from "../chain/registry.ts";
import { endpointSender } from "../signers/endpointSender.ts";
import { type Signer, signingSender } from "../signers/signer.ts";
import type { CostLimits } from "./costLimits.ts";
import { costLimitReached, describeGasPrice, feeTooHigh, noReceipt, type SentTransaction } from "./sendErrors.ts";
import { trySend } from "./trySend.ts";

/** The fee limit on local chains, as a multiple of the current price. */
const LOCAL_FEE_FACTOR = 10n;
const POLL_MS = 250;
/** The remedy in the error for a transaction that is in no block. */
const REMEDY = "run the command again";

/** A call of any contract, or a deployment if `to` is undefined. */
export interface Call {
  /** The account that must send the call: 0x and 40 hex digits with checksum (EIP-55). */
  from: string;
  to?: string;
  data: string;
}

/** Options of `sendCall`. */
export interface SendCallOptions {
  /** The chain id to sign for (EIP-155). */
  chainId: number;
  limits: CostLimits | "local";
  /** Signs for the sender of the call. Undefined if the endpoint signs. */
  signer: Signer | undefined;
  /** The maximum time to wait for the transaction's block, in ms. */
  timeoutMs: number;
  /** The sender's nonce. Default: the next unused nonce. */
  nonce?: number;
}

/**
 * Sends a call in a transaction, and waits until the transaction is in a block.
 * @throws ArgumentError NOT_OWNER if the signer has a different account; TransportError FEE_TOO_HIGH, COST_LIMIT_REACHED,
 * NO_RECEIPT; VerificationError TRANSACTION_REVERTED
 */
export async function sendCall(
  { chain, contract }: Pick<Registry, "chain" | "contract">,
  call: Call,
  { chainId, limits, signer, timeoutMs, ...given }: SendCallOptions,
): Promise<Receipt> {
  const { from } = call;
  if (signer !== undefined && signer.address !== from) {
    const message = `Only ${from} can send this transaction, but the signer's account is ${signer.address}. Use the key of ${from}, or print the call for its wallet with --call-only.`;
    throw new ArgumentError("NOT_OWNER", message, { expected: from, actual: signer.address });
  }
  const sender = { chain, contract, owner: from };
  const send =
    signer === undefined
      ? await endpointSender(sender, chainId)
      : signingSender(signer, { chainId, contract, owner: from }, chain.call);
  const { gas, fees } = await quoteWithin(chain, call, limits);
  const nonce = given.nonce ?? (await chain.transactionCount(from, "pending"));
  const request = { ...call, nonce: toQuantity(nonce), gas: toQuantity(gas), ...feesToHex(fees) };
  const { hash } = await trySend(send, request);
  if (!isHash(hash)) throw noReceipt({ hash: undefined, nonce, from }, "was not confirmed by the endpoint", REMEDY);
  const receipt = await waitForReceipt(chain, { hash, nonce, from }, timeoutMs);
  if (receipt.succeeded) return receipt;
  const message = `The transaction ${hash} in block ${receipt.blockNumber} was reverted.`;
  throw new VerificationError("root", "TRANSACTION_REVERTED", message, { actual: hash });
}

/**
 * Returns the gas limit and fees of a transaction, and checks that the price and the cost are within the limits. The
 * cost includes the fee for bytes on rollups.
 */
async function quoteWithin(chain: Chain, call: Call, limits: CostLimits | "local") {
  const estimated = await chain.request("eth_estimateGas", [call], parseSafeQuantity);
  const feeData = await chain.fetchFeeData(await chain.block("latest"));
  const { maxFeePerGas, maxPriorityFeePerGas, maxCost }: CostLimits =
    limits === "local" ? { maxFeePerGas: LOCAL_FEE_FACTOR * gasPriceOf(feeData) } : limits;
  const limited = limitPriorityFee(feeData, maxPriorityFeeOf(maxFeePerGas, maxPriorityFeePerGas));
  const fees = feesOf(limited, maxFeePerGas);
  if (fees === undefined) {
    const price = gasPriceOf(limited);
    throw feeTooHigh(`Gas costs ${describeGasPrice(price)}`, maxFeePerGas, price);
  }
  const dataFee = await new DataFees(chain).fetch(call, estimated, fees);
  // The gas for bytes may double before the transaction is in a block.
  const gas = estimated + dataFee.gas;
  const cost = BigInt(gas) * maxGasPriceOf(fees) + worstDataFeeOf(dataFee);
  if (maxCost !== undefined && cost > maxCost) throw costLimitReached(cost, { limit: "transaction", wei: maxCost });
  return { gas, fees };
}

async function waitForReceipt(
  chain: Chain,
  transaction: SentTransaction & { hash: string },
  timeoutMs: number,
): Promise<Receipt> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const receipt = await chain.receipt(transaction.hash);
    if (receipt !== undefined) return receipt;
    if (performance.now() > end) throw noReceipt(transaction, `is in no block after ${timeoutMs / 1000} s`, REMEDY);
    await sleep(POLL_MS);
  }
}
