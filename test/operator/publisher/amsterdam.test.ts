import { expect } from "chai";
import { join } from "node:path";
import { estimateCost, FolderStore, makePlan, publish, RecordTable } from "@keyroot/operator/publisher";
import { usersPerTransaction } from "../../../packages/operator/src/publisher/plan/usersPerTransaction.ts";
import { startAmsterdam } from "../../support/amsterdam/amsterdam.ts";
import { freshRegistry } from "../../support/chain/freshRegistry.ts";
import { deployLocally, LOCAL } from "../../support/chain/local.ts";
import { sampleRecords } from "../../support/samples.ts";
import { temporaryFolder } from "../../support/support.ts";
import { testAll } from "../../support/testSize.ts";
import { ENDLESS_MS } from "../../support/endless.ts";

const GWEI = 10n ** 9n;

/** Describes publishing on a chain with this gas limit per transaction, which is that of Osaka or of the block. */
function describeFork(transactionGas: number): void {
  describe(`publishing under Amsterdam's rules with ${transactionGas} gas per transaction`, () => {
    const fresh = freshRegistry(() => startAmsterdam(transactionGas));
    const folder = temporaryFolder();
    /** The maximum number of users, computed from the measured gas per user. */
    const most = transactionGas / 103_596;

    it("finds the batch size with at most eight estimates", async () => {
      let estimates = 0;
      const counting = fresh.at("eth_estimateGas", (forward, _, time) => {
        estimates = time;
        return forward();
      });
      const registry = await fresh.connect(counting);
      expect(await usersPerTransaction(registry, 700)).to.be.within(most * 0.95, most);
      expect(estimates).to.be.at.most(8);
    });

    it("deploys a registry within a cost limit", async () => {
      const limits = { maxFeePerGas: 3n * GWEI, maxCost: 10n ** 17n };
      const { existed, initialOwner } = await deployLocally(
        (await fresh.connect()).chain,
        join(folder.path, "deployments.json"),
        limits,
      );
      expect([existed, initialOwner]).to.deep.equal([false, fresh.owner]);
    });

    it("stays within the default cost limit", async () => {
      const { published } = await publish(sampleRecords(300), {
        ...LOCAL,
        registry: await fresh.connect(),
        store: new FolderStore(join(folder.path, "files")),
        limits: { maxFeePerGas: 3n * GWEI },
        usersPerFile: 700,
        sending: { timeoutMs: ENDLESS_MS },
      });
      expect(published).to.have.lengthOf(Math.ceil(300 / (most * 0.97)));
      expect(published.reduce((sum, { users }) => sum + users, 0)).to.equal(300);
    });

    it("costs what docs/costs.md states per user", async () => {
      const registry = await fresh.connect();
      const plan = await makePlan(RecordTable.of(sampleRecords(100)), registry, { usersPerFile: 100 });
      const { gas, accessList } = await estimateCost(plan, registry);
      expect(accessList).to.equal(false);
      // The transaction itself adds 1,500 gas per user at 100 users.
      expect(gas / 100).to.be.within(103_596, 106_500);
    });
  });
}

if (testAll) for (const transactionGas of [2 ** 24, 60_000_000]) describeFork(transactionGas);
