import { expect } from "chai";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { serializeKeyRecord } from "keyroot/internal/identity";
import { freshRegistry } from "../../support/chain/freshRegistry.ts";
import { sampleRecords } from "../../support/samples.ts";
import { optionsOf, program as keyroot } from "../../support/processes/commandLine.ts";
import { temporaryFolder } from "../../support/support.ts";

describe("keyroot publish, on a fresh registry", () => {
  const fresh = freshRegistry();
  const folder = temporaryFolder();
  let records: string;
  beforeEach(async () => {
    records = join(folder.path, "users.jsonl");
    await writeFile(records, sampleRecords(2).map(serializeKeyRecord).join("\n"));
  });
  const publish = async (options: Record<string, string>, env: NodeJS.ProcessEnv = {}) => {
    const given = {
      ...{ records, files: fresh.filesDir, plan: join(folder.path, "plan"), rpc: fresh.rpcUrl },
      ...{ contract: fresh.contract, "merkle-url": fresh.merkleUrl, ...options },
    };
    const { json, ...ran } = await keyroot.jsonLines(["publish", ...optionsOf(given)], { env });
    return { ...ran, users: json["users"] };
  };

  it("requires a valid chain id", async () => {
    const missing = await publish({});
    expect(missing).to.include({ code: 2, error: "ARGUMENT_INVALID" });
    expect(missing.message).to.include("--chain-id");
    expect(await publish({}, { KEYROOT_CHAIN_ID: "one" })).to.include({ code: 2, error: "ARGUMENT_INVALID" });
    expect(await publish({ "chain-id": "1", "max-fee": "20" }, { KEYROOT_CHAIN_ID: "31337" })).to.include({
      code: 1,
      error: "CHAIN_ID_MISMATCH",
      message: "The endpoint has chain id 31337, but 1 was expected. Use an endpoint of the chain 1.",
    });
    expect(await publish({}, { KEYROOT_CHAIN_ID: "31337" })).to.include({ code: 0, users: 2 });
  });

  it("requires a maximum fee unless chain and endpoint are local", async () => {
    const missing = await publish({ "chain-id": "1" });
    expect(missing).to.include({ code: 2, error: "ARGUMENT_INVALID" });
    expect(missing.message).to.include("--max-fee");
    // With a limit, the command continues to the check of the chain id.
    expect(await publish({ "chain-id": "1", "max-fee": "20" })).to.include({ code: 1, error: "CHAIN_ID_MISMATCH" });
    const env = { KEYROOT_MAX_FEE: "20", KEYROOT_MAX_COST: "1" };
    expect(await publish({ "chain-id": "1" }, env)).to.include({ code: 1, error: "CHAIN_ID_MISMATCH" });
  });

  it("applies --max-fee and --max-cost on local chains, too", async () => {
    const local = { "chain-id": "31337" };
    for (const options of [
      { "max-fee": "0" },
      { "max-priority-fee": "1" },
      { "max-cost": "1" },
      { "max-cost-per-day": "1" },
      { "max-fee": "1", "max-cost": "none" },
    ]) {
      expect(await publish({ ...local, ...options })).to.include({ code: 2, error: "ARGUMENT_INVALID" });
    }
    for (const limit of ["max-cost", "max-cost-per-day"])
      expect(await publish({ ...local, "max-fee": "20", [limit]: "0.00000001" }), limit).to.include({
        code: 3,
        error: "COST_LIMIT_REACHED",
      });
    expect(await publish({ ...local, "max-fee": "20" })).to.include({ code: 0, users: 2 });
  });
});
