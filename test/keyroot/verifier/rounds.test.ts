import { expect } from "chai";
import hre from "hardhat";
import { TEST_CHECKPOINT } from "@keyroot/operator/testing";
import { type Stack, startStack } from "@keyroot/service/stack";
import {
  createVerifier,
  endpoints,
  type KeyRecord,
  oneEndpoint,
  ownNode,
  pinnedBlock,
  type Verifier,
  type VerifierOptions,
} from "keyroot";
import { auditors } from "keyroot/auditors";
import { lightClient } from "keyroot/light-client";
import { StatementHost, statementText } from "../../support/auditors/statementHost.ts";
import { signedBy, testAuditors } from "../../support/auditors/testAuditor.ts";
import type { BlockJson } from "../../support/chain/fiveEndpoints.ts";
import { publishLocally } from "../../support/chain/local.ts";
import { startEndpoint } from "../../support/chain/lyingEndpoint.ts";
import { sampleRecords } from "../../support/samples.ts";
import { Rounds } from "../../support/servers/rounds.ts";
import { closedAfterAll, never, rpc } from "../../support/support.ts";

interface Choice {
  options: () => Pick<VerifierOptions, "trust"> & Partial<VerifierOptions>;
  /** The number of rounds of a verifier's first verification. */
  first: number;
}

describe("a verification", () => {
  const [mine, other, ...listed] = sampleRecords(22) as [KeyRecord, KeyRecord, ...KeyRecord[]];
  const open = closedAfterAll();
  const signers = testAuditors("a", "b", "c");
  let stack: Stack;
  let statements: StatementHost;
  let head: BlockJson;
  let urls: string[];

  before(async () => {
    stack = open(await startStack(hre, { ports: { chain: 0, files: 0, beacon: 0 } }));
    await publishLocally(stack, [mine, other]);
    await publishLocally(stack, listed, { usersPerFile: 1 });
    urls = await Promise.all([1, 2, 3].map(async () => open(await startEndpoint(stack.rpcUrl)).url));
    head = (await rpc(stack.rpcUrl, "eth_getBlockByNumber", ["latest", false])) as BlockJson;
    statements = open(await StatementHost.start());
    statements.files.set("latest", signedBy(signers.slice(1), statementText(stack, head)));
  });

  const choices: Record<string, Choice> = {
    oneEndpoint: { options: () => ({ trust: oneEndpoint() }), first: 2 },
    "oneEndpoint at a finalized block": { options: () => ({ trust: oneEndpoint({ block: "finalized" }) }), first: 2 },
    endpoints: { options: () => ({ trust: endpoints({ required: 2 }), rpc: urls }), first: 2 },
    ownNode: { options: () => ({ trust: ownNode() }), first: 2 },
    pinnedBlock: { options: () => ({ trust: pinnedBlock(head.hash) }), first: 2 },
    lightClient: {
      options: () => ({ trust: lightClient({ urls: [stack.beaconUrl ?? never()], checkpoint: TEST_CHECKPOINT }) }),
      first: 4,
    },
    auditors: {
      options: () => {
        const keys = signers.map(({ key }) => key);
        return { trust: auditors({ keys, threshold: 2, urls: [statements.url] }) };
      },
      first: 2,
    },
  };

  const verifierOf = ({ options }: Choice, { fetch }: Rounds): Verifier =>
    createVerifier({
      ...{ rpc: stack.rpcUrl, chainId: stack.chainId, contract: stack.contract, merkleUrl: stack.merkleUrl, fetch },
      ...options(),
    });

  it("requests no block with lightClient, because the beacon header proves the block's state", async () => {
    const rounds = new Rounds();
    const verifier = verifierOf(choices["lightClient"] ?? never(), rounds);
    await verifier.verify(mine.userID, { expectedPublicKey: mine.pubKey });
    expect(rounds.sent.flat()).to.include("eth_getProof").and.not.include("eth_getBlockByHash");
  });

  for (const [name, choice] of Object.entries(choices)) {
    it(`of a list with contacts in many files takes as many rounds as that of one key with ${name}`, async () => {
      const contacts = listed.map(({ userID, pubKey }) => ({ userID, expectedPublicKey: pubKey }));
      // Loads the code.
      await verifierOf(choice, new Rounds()).verifyMany(contacts);
      const rounds = new Rounds();
      const outcomes = await verifierOf(choice, rounds).verifyMany(contacts);
      expect(outcomes.filter((outcome) => "verified" in outcome)).to.have.lengthOf(listed.length);
      expect(rounds.sent.length, JSON.stringify(rounds.sent)).to.be.at.most(choice.first);
    });
  }

  for (const [name, choice] of Object.entries(choices)) {
    it(`takes two rounds of requests with ${name}, as an unproven read and a download do`, async () => {
      // Loads the code.
      await verifierOf(choice, new Rounds()).verify(mine.userID, { expectedPublicKey: mine.pubKey });
      const rounds = new Rounds();
      const verifier = verifierOf(choice, rounds);
      await verifier.verify(mine.userID, { expectedPublicKey: mine.pubKey });
      expect(rounds.sent.length, "first verification").to.be.at.most(choice.first);
      rounds.reset();
      const { record } = await verifier.verify(other.userID, { expectedPublicKey: other.pubKey });
      expect(record).to.deep.equal(other);
      expect(rounds.sent, JSON.stringify(rounds.sent)).to.have.lengthOf(2);
    });
  }
});
