import { expect } from "chai";
import { openEndpoint } from "../../../packages/operator/src/rpc/openEndpoint.ts";
import { auditedWorld, outcomeOf } from "../../support/chain/auditedWorld.ts";
import { sampleRecords } from "../../support/samples.ts";
import { type RpcProxy, startRpcProxy } from "../../support/servers/rpcProxy.ts";

const ROOTS = 40;
const USERS = 2;

describe("the requests of an audit", () => {
  const world = auditedWorld();
  let proxy: RpcProxy;
  before(async () => {
    proxy = await startRpcProxy(world.fresh.rpcUrl);
  });
  after(() => proxy.close());

  it("carry the calls for many roots at a time", async () => {
    const records = sampleRecords(ROOTS * USERS);
    for (let i = 0; i < records.length; i += USERS) await world.publish(records.slice(i, i + USERS));
    const call = openEndpoint(proxy.url);
    expect(outcomeOf(await world.audit({ call }))).to.deep.equal({ verdict: "passed", codes: [] });
    const calls = proxy.requests.map(({ method }) => method);
    // One call reads the roots of all users. Each root needs its block and its recorded block number.
    expect(calls.filter((method) => method === "eth_call")).to.have.lengthOf(ROOTS + 3);
    expect(calls.filter((method) => method === "eth_getBlockByNumber")).to.have.lengthOf(ROOTS + 1);
    // Without shared requests, there would be one HTTP request per call.
    expect(proxy.httpRequests).to.be.at.most(2 * Math.ceil(ROOTS / 20) + 6);
  });
});
