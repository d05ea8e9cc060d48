import { expect } from "chai";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { TransportError } from "../../../../packages/keyroot/src/errors.ts";
import type { RpcCall } from "../../../../packages/keyroot/src/transport/jsonRpc.ts";
import { FolderStore } from "../../../../packages/operator/src/publisher/files/folderStore.ts";
import { FolderJournal } from "../../../../packages/operator/src/publisher/journal/folderJournal.ts";
import { serializeAttempt } from "../../../../packages/operator/src/publisher/journal/journal.ts";
import { MemoryJournal } from "../../../../packages/operator/src/publisher/journal/memoryJournal.ts";
import { serializePlan } from "../../../../packages/operator/src/publisher/plan/plan.ts";
import { publish } from "../../../../packages/operator/src/publisher/publish.ts";
import type { PublishEvent } from "../../../../packages/operator/src/publisher/publishEvents.ts";
import { verifyDeployment } from "../../../../fixtures/publisher/deployment.ts";
import { freshRegistry } from "../../../../fixtures/freshRegistry.ts";
import { sampleRecords } from "../../../../fixtures/samples.ts";
import { failure, temporaryFolder } from "../../../support/support.ts";
import { LOCAL } from "../../../../fixtures/local.ts";

describe("an unfinished plan of version 0.1.0", function () {
  this.timeout(60_000);
  const fresh = freshRegistry();
  const folder = temporaryFolder();

  it("is resumed under its own roots and nonces", async () => {
    const records = sampleRecords(8);
    const store = new FolderStore(fresh.merkleDir);
    const sending = { inFlight: 1, pollMs: 5 };
    let sent = 0;
    const via: RpcCall = async (method, params) => {
      if (method === "eth_sendTransaction" && ++sent === 3) throw new TransportError("RPC_ERROR", "insufficient funds");
      return fresh.call(method, params);
    };
    const unfinished = new MemoryJournal();
    const options = {
      ...LOCAL,
      registry: await fresh.connect(via),
      store,
      journal: unfinished,
      usersPerFile: 2,
      sending,
    };
    expect(await failure(publish(records, options))).to.include({ code: "RPC_ERROR" });

    // As 0.1.0 wrote it: the form of plan and attempts is the same, and tested with files of its own.
    const dir = join(folder.path, "plan");
    await mkdir(dir);
    const plan = await unfinished.readPlan();
    if (plan === undefined) throw new Error("The plan is finished.");
    await writeFile(join(dir, "plan.jsonl"), [...serializePlan(plan)].join(""));
    const lines = unfinished.attempts().map((attempt) => `${serializeAttempt(attempt)}\n`);
    expect(lines).to.have.lengthOf(3);
    await writeFile(join(dir, "sent.jsonl"), lines.join(""));

    const events: PublishEvent[] = [];
    const onEvent = (event: PublishEvent) => void events.push(event);
    {
      using journal = await FolderJournal.open(dir);
      await publish(records, {
        ...LOCAL,
        registry: await fresh.connect(),
        store,
        journal,
        usersPerFile: 2,
        sending,
        onEvent,
      });
      expect(await journal.readPlan()).to.equal(undefined);
    }
    expect(events[0]).to.deep.include({ event: "resumed", batches: 4, users: 8 });
    const included = events.flatMap((event) => (event.event === "included" ? [[event.root, event.nonce]] : []));
    const third = unfinished.attempts()[2];
    expect(included[0]).to.deep.equal([third?.root, third?.nonce]);
    const published = events.flatMap((event) => (event.event === "published" ? [event.root] : []));
    expect(published).to.deep.equal(plan.batches.map(({ root }) => root));
    await verifyDeployment(fresh, records);
    expect((await readdir(dir)).toSorted()).to.deep.equal(["journal.sqlite", "lock"]);
  });
});
