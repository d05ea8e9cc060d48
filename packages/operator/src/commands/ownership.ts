/** What `transfer-ownership` and `accept-ownership` share: the registry, and the call that changes its owner. */
import { Registry } from "../publisher/chain/registry.ts";
import type { OwnershipCall } from "../publisher/ownership.ts";
import { openSigner } from "../publisher/signers/openSigner.ts";
import { sendCall } from "../publisher/transactions/sendCall.ts";
import { ChainAndFiles } from "./chainAndFiles.ts";
import { costLimitsOf } from "./costOptions.ts";
import type { Parsed } from "./defineCommand.ts";
import type { Host, Outcome } from "./host.ts";
import type { chain, ownershipOptions } from "./options.ts";
import { printWaiting } from "./output.ts";

type Args = Parsed<{ summary: string; options: typeof ownershipOptions & typeof chain }>;

export async function connect(args: Args, host: Host) {
  const chainAndFiles = await ChainAndFiles.resolve(args, host);
  await chainAndFiles.verifyChainId();
  return { registry: await Registry.connect(chainAndFiles.call, chainAndFiles.contract), chainAndFiles };
}

/**
 * Sends a call from the configured signer. With `--call-only`, the call is printed instead, for the sender's wallet.
 * @param done the text to print after the call is in a block
 */
export async function sendOwnershipCall(
  call: OwnershipCall,
  done: string,
  { registry, chainAndFiles }: Awaited<ReturnType<typeof connect>>,
  args: Args,
  host: Host,
): Promise<Outcome> {
  const { from, to, data } = call;
  if (args.callOnly) {
    const text = `Send this transaction from ${from}:\n  to    ${to}\n  value 0\n  data  ${data}`;
    return { json: { from, to, value: "0", data }, text };
  }
  const { chainId, allowHttp } = chainAndFiles;
  const limits = costLimitsOf(args, chainAndFiles) ?? "local";
  const signer = await openSigner(host.environment, allowHttp);
  const options = { chainId, limits, signer, timeoutMs: args.timeout * 1000, onWaiting: printWaiting };
  const { transactionHash, blockNumber } = (await sendCall(registry, call, options)).receipt;
  return {
    json: { transaction: transactionHash, block: blockNumber },
    text: `${done}\nTransaction ${transactionHash} in block ${blockNumber}.`,
  };
}
