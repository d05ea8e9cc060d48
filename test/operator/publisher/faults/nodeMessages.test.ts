import { expect } from "chai";
import { parseUnits, Wallet } from "ethers";
import { type RpcCall, rpcCaller } from "keyroot/internal/transport";
import { describeOnAnvil, startAnvil } from "../../../support/anvil/anvil.ts";
import { OWNER_KEY } from "../../../support/chain/local.ts";
import { closedAfterEach, failure } from "../../../support/support.ts";
import { stopMining } from "../../../support/anvil/anvilControl.ts";
import { ENDLESS_MS } from "../../../support/endless.ts";

const wallet = new Wallet(OWNER_KEY);
const GWEI = parseUnits("1", "gwei");

/** Signs a transaction from the wallet to itself. */
async function sign(call: RpcCall, changes: { nonce?: number; maxFeePerGas?: bigint } = {}): Promise<string> {
  const nonce = Number(await call("eth_getTransactionCount", [wallet.address, "latest"]));
  const chainId = Number(await call("eth_chainId", []));
  const fees = { maxFeePerGas: 100n * GWEI, maxPriorityFeePerGas: GWEI };
  return wallet.signTransaction({ type: 2, to: wallet.address, gasLimit: 21_000, nonce, chainId, ...fees, ...changes });
}

describeOnAnvil("a node's error messages", () => {
  const closing = closedAfterEach();

  it("are the same as in the simulated faults", async () => {
    const { url } = closing(await startAnvil());
    const call = rpcCaller(url, { maxBytes: 2 ** 24, timeoutMs: ENDLESS_MS });
    const messageOf = async (raw: string) => ((await failure(call("eth_sendRawTransaction", [raw]))) as Error).message;
    await stopMining(call);
    const raw = await sign(call);
    await call("eth_sendRawTransaction", [raw]);
    expect(await messageOf(raw)).to.include("already imported");
    expect(await messageOf(await sign(call, { nonce: 0, maxFeePerGas: 90n * GWEI }))).to.include("underpriced");
    await call("anvil_mine", ["0x1"]);
    expect(await messageOf(await sign(call, { nonce: 0 }))).to.include("nonce too low");
  });
});
