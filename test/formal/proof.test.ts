import { expect } from "chai";
import { readFile } from "node:fs/promises";
import { readContract } from "../../scripts/generate/contractSources.ts";
import { readTwin, TWIN, twinOf } from "../../scripts/generate/proofTwin.ts";
import { claimNames, prove } from "./prove.ts";

const contract = await readContract();

const ALWAYS_REVERTS = "    /// @notice Always reverts";

/** For each claim, a change of the contract that makes the claim false. */
const BROKEN: Record<string, [from: string, to: string]> = {
  stepKeepsEveryExistingRoot: ["if (user.merkleTreeRoot == 0)", "if (user.merkleTreeRoot != merkleTreeRoot)"],
  stepChangesNoOtherUser: [
    "else --addedCount;",
    "else --addedCount;\n            _users[0].merkleTreeRoot = merkleTreeRoot;",
  ],
  stepSetsTheRootOrDecrementsTheCount: ["else --addedCount;", "else addedCount = 0;"],
  stepChangesNoOtherState: ["else --addedCount;", "else --addedCount;\n            ++_userCount;"],
  finishAddsTheCountToUserCount: ["_userCount += addedCount", "_userCount += 1"],
  finishChangesNoUserAndNoOwner: ["_userCount += addedCount", "delete _users[0].merkleTreeRoot"],
  finishSetsTheBlockNumberOfARootOnce: ["if (_blockNumbers[merkleTreeRoot] == 0) ", ""],
  callKeepsEveryExistingRoot: ["if (user.merkleTreeRoot == 0) user", "if (addedCount > 0) user"],
  callKeepsEveryExistingBlockNumber: ["_blockNumbers[merkleTreeRoot] == 0", "addedCount > 1"],
  callSetsNoRootButTheGivenOne: ["user.merkleTreeRoot = merkleTreeRoot", "user.merkleTreeRoot = bytes32(uint256(7))"],
  userCountNeverDecreases: ["_userCount += addedCount", "_userCount = addedCount"],
  onlyTheOwnerAddsRoots: ["userIDsPacked) public onlyOwner {", "userIDsPacked) public {"],
  zeroRootIsRejected: ["if (merkleTreeRoot == 0) revert", "if (merkleTreeRoot == bytes32(uint256(1))) revert"],
  onlyTheOwnerStartsATransfer: [
    ALWAYS_REVERTS,
    `    function transferOwnership(address newOwner) public override {
        _transferOwnership(newOwner);
    }

${ALWAYS_REVERTS}`,
  ],
  onlyThePendingOwnerBecomesOwner: [
    ALWAYS_REVERTS,
    `    function acceptOwnership() public override {
        _transferOwnership(msg.sender);
    }

${ALWAYS_REVERTS}`,
  ],
  ownershipCannotBeRenounced: ["revert PublicKeyRegistryCannotRenounceOwnership(owner())", "owner()"],
  ownershipTransferChangesNoRoot: [
    ALWAYS_REVERTS,
    `    function _transferOwnership(address newOwner) internal override {
        super._transferOwnership(newOwner);
        delete _users[bytes20(newOwner)].merkleTreeRoot;
    }

${ALWAYS_REVERTS}`,
  ],
  userInfoIsTheRootAndItsBlockNumber: ["blockNumber = _blockNumbers[merkleTreeRoot]", "blockNumber = _blockNumbers[0]"],
};

describe("the proof", function () {
  // Ends only endless waits: the solver takes minutes.
  this.timeout(7_200_000);

  it("uses the current twin of the contract (to update it: npm run generate:contracts)", async () => {
    expect(await readFile(TWIN, "utf8")).to.equal(await readTwin());
  });

  it("proves every claim, without unsupported statements", async () => {
    const { proved, unproved, remarks } = await prove(contract);
    expect(unproved).to.deep.equal({});
    expect(remarks).to.deep.equal([]);
    expect(proved).to.deep.equal(await claimNames());
  });

  it("has a broken contract for each claim", async () => {
    expect(Object.keys(BROKEN)).to.deep.equal(await claimNames());
  });

  describe("fails for a contract that violates the claim", () => {
    for (const [claim, [from, to]] of Object.entries(BROKEN)) {
      it(claim, async () => {
        expect(contract.split(from)).to.have.length(2);
        const { unproved } = await prove(contract.replace(from, to), claim);
        expect(unproved[claim]).to.include("Assertion violation happens here");
      });
    }
  });

  describe("rejects a contract with another structure", () => {
    for (const [change, from, to] of [
      ["no pointer to a user", /User storage user = .*\n/, "bytes20 user = bytes20(rest[:20]);\n"],
      ["reads the next id within the decision", "else --addedCount;", "else rest = rest[20:];"],
      ["a second storage pointer", "if (addedCount == 0) return;", "User storage user = _users[0];"],
      ["assembly", "if (addedCount == 0) return;", "assembly {}"],
      ["decides before it advances to the next id", "            rest = rest[20:];\n", ""],
    ] as const) {
      it(change, () => {
        const changed = contract.replace(from, to);
        expect(changed).not.to.equal(contract);
        expect(() => twinOf(changed)).to.throw(/^The (contract|twin)/);
      });
    }
  });
});
