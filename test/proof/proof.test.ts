import { expect } from "chai";
import { readFile } from "node:fs/promises";
import { readContract } from "../../scripts/contractSources.ts";
import { claimNames, prove } from "./prove.ts";
import { TWIN, twinOf } from "./twin.ts";

const contract = await readContract();

/** For each claim a contract of which it is not true: where the true one is changed, and to what. */
const BROKEN: Record<string, [from: string, to: string]> = {
  aStepKeepsEveryRootThatIsSet: ["if (user.merkleTreeRoot == 0)", "if (user.merkleTreeRoot != merkleTreeRoot)"],
  aStepChangesNoUserButTheOneAskedFor: [
    "else --addedCount;",
    "else --addedCount;\n            _users[0].merkleTreeRoot = merkleTreeRoot;",
  ],
  aStepGivesTheRootToAUserWithoutAndCountsTheOthersOut: ["else --addedCount;", "else addedCount = 0;"],
  aStepTouchesNothingElse: ["else --addedCount;", "else --addedCount;\n            ++_userCount;"],
  finishAddsWhatWasCountedToUserCount: ["_userCount += addedCount", "_userCount += 1"],
  finishTouchesNoUserAndNoOwner: ["_userCount += addedCount", "delete _users[0].merkleTreeRoot"],
  finishNotesTheBlockOfARootOnce: ["if (_blockNumbers[merkleTreeRoot] == 0) ", ""],
  aCallKeepsEveryRootThatIsSet: ["if (user.merkleTreeRoot == 0) user", "if (addedCount > 0) user"],
  aCallKeepsEveryBlockNumberThatIsSet: ["_blockNumbers[merkleTreeRoot] == 0", "addedCount > 1"],
  aCallSetsNoOtherRootThanTheGivenOne: [
    "user.merkleTreeRoot = merkleTreeRoot",
    "user.merkleTreeRoot = bytes32(uint256(7))",
  ],
  userCountNeverFalls: ["_userCount += addedCount", "_userCount = addedCount"],
  onlyTheOwnerAddsRoots: ["userIDsPacked) public onlyOwner {", "userIDsPacked) public {"],
  theZeroRootIsRefused: ["if (merkleTreeRoot == 0) revert", "if (merkleTreeRoot == bytes32(uint256(1))) revert"],
  ownershipIsOfferedByTheOwnerOnly: [
    "    /// @notice Refused",
    `    function transferOwnership(address newOwner) public override {
        _transferOwnership(newOwner);
    }

    /// @notice Refused`,
  ],
  ownershipPassesToTheOneItWasOfferedToOnly: [
    "    /// @notice Refused",
    `    function acceptOwnership() public override {
        _transferOwnership(msg.sender);
    }

    /// @notice Refused`,
  ],
  ownershipCannotBeRenounced: ["revert PublicKeyRegistryCannotRenounceOwnership(owner())", "owner()"],
  aChangeOfOwnershipTouchesNoRoot: [
    "    /// @notice Refused",
    `    function _transferOwnership(address newOwner) internal override {
        super._transferOwnership(newOwner);
        delete _users[bytes20(newOwner)].merkleTreeRoot;
    }

    /// @notice Refused`,
  ],
  userInfoIsTheRootAndTheBlockOfThatRoot: [
    "blockNumber = _blockNumbers[merkleTreeRoot]",
    "blockNumber = _blockNumbers[0]",
  ],
};

describe("the proof", function () {
  this.timeout(120_000);

  it("is about the contract's twin as it is today (after a change: node test/proof/twin.ts)", async () => {
    expect(await readFile(TWIN, "utf8")).to.equal(twinOf(contract));
  });

  it("proves every claim, and the checker follows every line", async () => {
    const { proved, unproved, remarks } = await prove(contract);
    expect(unproved).to.deep.equal({});
    expect(remarks).to.deep.equal([]);
    expect(proved).to.deep.equal(await claimNames());
  });

  it("has a broken contract for each claim", async () => {
    expect(Object.keys(BROKEN)).to.deep.equal(await claimNames());
  });

  describe("fails of a contract that breaks the claim", () => {
    for (const [claim, [from, to]] of Object.entries(BROKEN)) {
      it(claim, async () => {
        expect(contract.split(from)).to.have.length(2);
        const { unproved } = await prove(contract.replace(from, to), claim);
        expect(unproved[claim]).to.include("Assertion violation happens here");
      });
    }
  });

  describe("is not made of a contract of another shape", () => {
    for (const [about, from, to] of [
      ["without the pointer to a user", /User storage user = .*\n/, "bytes20 user = bytes20(rest[:20]);\n"],
      ["that reads on in the middle of the decision", "else --addedCount;", "else rest = rest[20:];"],
      ["with another pointer", "if (addedCount == 0) return;", "User storage user = _users[0];"],
      ["with assembly", "if (addedCount == 0) return;", "assembly {}"],
      ["that decides before it reads on", "            rest = rest[20:];\n", ""],
    ] as const) {
      it(about, () => {
        const changed = contract.replace(from, to);
        expect(changed).not.to.equal(contract);
        expect(() => twinOf(changed)).to.throw(/^The (contract|twin) /);
      });
    }
  });
});
