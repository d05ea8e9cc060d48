import { Registry } from "../publisher/chain/registry.ts";
import { type OwnershipCall, sendOwnershipCall } from "../publisher/ownership.ts";
import { openSigner } from "../publisher/signers/openSigner.ts";
import { costLimitsOf } from "./costOptions.ts";
import type { ArgsOf } from "./definitions.ts";
import type { Host, Outcome } from "./host.ts";
import { Target } from "./target.ts";

/** Where to send a call of `transfer-ownership` or `accept-ownership`. */
export interface OwnershipTarget {
  registry: Registry;
  target: Target;
}

export async function ownershipTarget(args: ArgsOf<"accept-ownership">, host: Host): Promise<OwnershipTarget> {
  const target = await Target.resolve(args, host);
  await target.checkChainId();
  return { registry: await Registry.connect(target.call, target.contract), target };
}

/**
 * Sends a call, or prints it for the sender's wallet.
 * @param done what the call did
 */
export async function sendOwnership(
  call: OwnershipCall,
  { registry, target }: OwnershipTarget,
  args: ArgsOf<"accept-ownership">,
  done: string,
): Promise<Outcome> {
  const { from, to, data } = call;
  if (args.callOnly) {
    const text = `Send this transaction from ${from}:\n  to    ${to}\n  value 0\n  data  ${data}`;
    return { json: { from, to, value: "0", data }, text };
  }
  const { chainId, allowHttp } = target;
  const limits = costLimitsOf(args, target) ?? "local";
  const signer = await openSigner({ ...process.env, ...(allowHttp && { KEYROOT_ALLOW_HTTP: "true" }) });
  const options = { chainId, limits, signer, timeoutMs: args.timeout * 1000 };
  const { transactionHash, blockNumber } = await sendOwnershipCall(registry, call, options);
  return {
    json: { transaction: transactionHash, block: blockNumber },
    text: `${done}\nTransaction ${transactionHash} in block ${blockNumber}.`,
  };
}
