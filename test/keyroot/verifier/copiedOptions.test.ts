import { expect } from "chai";
import { ANY_KEY, createVerifier, endpoints } from "keyroot";
import { base64ToBytes } from "keyroot/internal/bytes";
import type { Endpoint } from "../../../packages/keyroot/src/verifier/options.ts";
import { describeOnChains, forged, lieAboutBlock, mine, other, userID } from "../../support/chain/fiveEndpoints.ts";
import { failure } from "../../support/support.ts";
import { verifyOnce, verifyListOnce } from "../../support/verifier/verifyOnce.ts";

describeOnChains("options that the caller changes during a verification", (chain) => {
  it("have no effect on the endpoints", async () => {
    const state = await chain.inventState(`0x${forged.tree.root}`);
    chain.letLie((...call) => lieAboutBlock(state, ...call), 2);
    const rpc: Endpoint[] = chain.urls().slice(2);
    const verifier = createVerifier({ ...chain.place(), rpc, trust: endpoints({ required: 2 }) });
    rpc.splice(0, 3, ...chain.urls().slice(0, 2));
    expect((await verifier.verify(userID, { expectedPublicKey: ANY_KEY })).record.pubKey).to.equal(mine.pubKey);
  });

  it("have no effect on the compared key", async () => {
    const expectedPublicKey = base64ToBytes(other.pubKey);
    const verified = verifyOnce(userID, { ...chain.place(), expectedPublicKey });
    const outcomes = verifyListOnce([{ userID, expectedPublicKey }], chain.place());
    expectedPublicKey.set(base64ToBytes(mine.pubKey));
    expect(await failure(verified)).to.include({ code: "KEY_MISMATCH" });
    expect((await outcomes)[0]).to.have.nested.property("error.code", "KEY_MISMATCH");
  });
});
