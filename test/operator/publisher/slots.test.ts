import { expect } from "chai";
import { AbiCoder, keccak256 } from "ethers";
import fc from "fast-check";
import { userIDFromBytes } from "../../../packages/keyroot/src/identity/userID.ts";
import { USERS_SLOT } from "../../../packages/keyroot/src/registry/calldata.ts";
import { slotsOfUsers } from "../../../packages/operator/src/publisher/transactions/slots.ts";
import { slotOfUser } from "../../../packages/keyroot/src/ethereum/storageProof.ts";
import { refusalOf } from "../../support/refusalOf.ts";

const anyUserID = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(userIDFromBytes);

describe("slotsOfUsers", () => {
  it("are what the verifier proves, and what Solidity's layout says by ethers' hash, in the users' order", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ minLength: 20, maxLength: 20 }), { maxLength: 20 }), (ids) => {
        const userIDs = ids.map(userIDFromBytes);
        const slots = slotsOfUsers(userIDs);
        expect(slots).to.deep.equal(userIDs.map((userID) => slotOfUser(userID, USERS_SLOT)));
        const encode = (id: Uint8Array) => AbiCoder.defaultAbiCoder().encode(["bytes20", "uint256"], [id, USERS_SLOT]);
        expect(slots).to.deep.equal(ids.map((id) => keccak256(encode(id))));
      }),
    );
  });

  it("has none of what is no user id", () => {
    fc.assert(
      fc.property(anyUserID, (userID) => {
        expect(refusalOf(() => slotsOfUsers([userID, userID.slice(1)]))).to.equal("USER_ID_INVALID");
      }),
      { numRuns: 10 },
    );
  });
});
