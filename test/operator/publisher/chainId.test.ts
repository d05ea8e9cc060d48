import { expect } from "chai";
import { join } from "node:path";
import { TransportError } from "../../../packages/keyroot/src/errors.ts";
import type { RpcCall } from "../../../packages/keyroot/src/transport/jsonRpc.ts";
import { Chain } from "../../../packages/operator/src/publisher/chain/chain.ts";
import { FolderStore } from "../../../packages/operator/src/publisher/files/folderStore.ts";
import { publish } from "../../../packages/operator/src/publisher/publish.ts";
import type { PublishOptions } from "../../../packages/operator/src/publisher/publishOptions.ts";
import { FAST_RETRY, freshRegistry } from "../../support/chain/freshRegistry.ts";
import { LOCAL } from "../../support/chain/local.ts";
import { sampleRecords } from "../../support/samples.ts";
import { failure, temporaryFolder } from "../../support/support.ts";

describe("the chain id for signing", () => {
  const fresh = freshRegistry();
  const folder = temporaryFolder();
  const records = sampleRecords(2);
  /** An endpoint of the local chain that reports the chain id of Ethereum mainnet. */
  const lying: RpcCall = async (method, params) => (method === "eth_chainId" ? "0x1" : fresh.call(method, params));
  const publishVia = async (via: RpcCall, options: Partial<PublishOptions> = {}) =>
    publish(records, {
      ...LOCAL,
      registry: await fresh.connect(via),
      store: new FolderStore(join(folder.path, "files")),
      ...options,
    });

  it("must be the caller's before anything is signed", async () => {
    let requests = 0;
    const send = () => {
      requests++;
      return Promise.resolve("");
    };
    expect(await failure(publishVia(lying, { send }))).to.include({ code: "CHAIN_ID_MISMATCH" });
    expect(requests).to.equal(0);
  });

  it("is read again after a temporary failure or an invalid response", async () => {
    const answers = [new TransportError("TIMEOUT", "no answer in time"), "not a number", "0x7a69"];
    const chain = new Chain(() => {
      const answer = answers.shift();
      return answer instanceof TransportError ? Promise.reject(answer) : Promise.resolve(answer);
    }, FAST_RETRY);
    expect(await chain.chainId()).to.equal(31337);
    expect(answers).to.deep.equal([]);
  });

  it("is part of each request to an endpoint that signs", async () => {
    const chainIds: unknown[] = [];
    await publishVia(async (method, params) => {
      if (method === "eth_sendTransaction") chainIds.push((params[0] as { chainId?: string }).chainId);
      return fresh.call(method, params);
    });
    expect(chainIds).to.deep.equal(["0x7a69"]);
  });
});
