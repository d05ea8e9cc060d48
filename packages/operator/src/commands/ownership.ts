/**
 * The commands `keyroot transfer-ownership` and `keyroot accept-ownership`, which change the owner of a registry in two steps.
 */
import { Registry } from "../publisher/chain/registry.ts";
import {
  acceptOwnershipCall,
  fetchPendingOwner,
  type OwnershipCall,
  transferOwnershipCall,
} from "../publisher/ownership.ts";
import { sendCall } from "../publisher/transactions/sendCall.ts";
import { printWaiting } from "./output.ts";
import { openSigner } from "../publisher/signers/openSigner.ts";
import { costLimitsOf } from "./costOptions.ts";
import type { ArgsOf } from "./commandDefinitions.ts";
import type { Host, Outcome } from "./host.ts";
import { ChainAndFiles } from "./chainAndFiles.ts";
import { checkAddress } from "./hexOptions.ts";

type Args = ArgsOf<"accept-ownership">;

/** `keyroot transfer-ownership`: offers a registry to another account. Only the owner can offer a registry. */
export async function transferOwnership(args: ArgsOf<"transfer-ownership">, host: Host): Promise<Outcome> {
  const newOwner = checkAddress("--new-owner", args.newOwner);
  const { registry, chainAndFiles } = await connect(args, host);
  const call = transferOwnershipCall(registry, newOwner, chainAndFiles.chainId);
  const pending = await fetchPendingOwner(registry);
  if (pending?.toLowerCase() === newOwner.toLowerCase()) {
    const text = `The registry is already offered to ${pending}. This account becomes the owner with 'accept-ownership'.`;
    return { json: { owner: registry.owner, pendingOwner: pending }, text };
  }
  const done = `The registry is offered to ${newOwner}. This account becomes the owner with 'accept-ownership'. Until then, the owner is ${registry.owner}.`;
  return send({ call, registry, chainAndFiles, args, done }, host);
}

/**
 * `keyroot accept-ownership`: completes an ownership transfer. The account that the owner chose becomes the registry's
 * owner.
 */
export async function acceptOwnership(args: Args, host: Host): Promise<Outcome> {
  const { registry, chainAndFiles } = await connect(args, host);
  const call = await acceptOwnershipCall(registry);
  return send({ call, registry, chainAndFiles, args, done: `${call.from} is now the owner of the registry.` }, host);
}

async function connect(args: Args, host: Host): Promise<{ registry: Registry; chainAndFiles: ChainAndFiles }> {
  const chainAndFiles = await ChainAndFiles.resolve(args, host);
  await chainAndFiles.verifyChainId();
  return { registry: await Registry.connect(chainAndFiles.call, chainAndFiles.contract), chainAndFiles };
}

interface Sending {
  call: OwnershipCall;
  registry: Registry;
  chainAndFiles: ChainAndFiles;
  args: Args;
  /** The text to print after the call is in a block. */
  done: string;
}

/** Sends a call, or prints the call for the sender's wallet. */
async function send({ call, registry, chainAndFiles, args, done }: Sending, host: Host): Promise<Outcome> {
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
