import { expect } from "chai";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { type KeyRecord, type UserID } from "keyroot/internal/identity";
import { ANY_KEY, createVerifier, KeyrootError, ownNode } from "keyroot";
import { ROOT } from "../../scripts/test/root.ts";
import { auditedWorld } from "../support/chain/auditedWorld.ts";
import { lieAt } from "../support/chain/lyingEndpoint.ts";
import { sampleRecords } from "../support/samples.ts";
import { never } from "../support/support.ts";

const PROGRAM = join(ROOT, "scripts/secondVerifier/verifier.mjs");

interface Outcome {
  code: number;
  /** The published record, or the code of the rejection. */
  verdict?: KeyRecord | string;
}

describe("the second verifier with a live user", () => {
  const world = auditedWorld();
  const [alice = never(), bob = never(), stranger = never()] = sampleRecords(3);
  let root: string;

  beforeEach("alice and bob are published", async () => {
    root = await world.publish([alice, bob]);
  });

  /** Runs the second verifier, and the library with the same trust. */
  async function bothOn(userID: UserID): Promise<{ second: Outcome; library: string | KeyRecord }> {
    const { contract, merkleUrl, chainId } = world.fresh;
    const args = ["--rpc", world.url, "--contract", contract, "--merkle-url", merkleUrl, userID];
    const second = await new Promise<Outcome>((resolve) => {
      execFile(process.execPath, [PROGRAM, ...args], { cwd: ROOT }, (error, stdout) => {
        const code = typeof error?.code === "number" ? error.code : 0;
        const verdict = (stdout === "" ? {} : JSON.parse(stdout)) as {
          verified?: { record: KeyRecord };
          code?: string;
        };
        const found = verdict.verified?.record ?? verdict.code;
        resolve({ code, ...(found !== undefined && { verdict: found }) });
      });
    });
    const verifier = createVerifier({ rpc: world.url, chainId, contract, merkleUrl, trust: ownNode() });
    const library = await verifier.verify(userID, { expectedPublicKey: ANY_KEY }).then(
      ({ record }) => record,
      (error: unknown) => (error instanceof KeyrootError ? error.code : never()),
    );
    return { second, library };
  }

  it("finds the published record, as the library does", async () => {
    for (const record of [alice, bob])
      expect(await bothOn(record.userID)).to.deep.equal({ second: { code: 0, verdict: record }, library: record });
  });

  it("rejects a user without a root", async () => {
    const second = { code: 1, verdict: "NOT_PUBLISHED" };
    expect(await bothOn(stranger.userID)).to.deep.equal({ second, library: "NOT_PUBLISHED" });
  });

  it("rejects a file with other keys", async () => {
    const other = await world.store(sampleRecords(2, 2).map((record) => JSON.stringify(record)));
    await world.writeText(root, await world.readText(other));
    const second = { code: 1, verdict: "ROOT_MISMATCH" };
    expect(await bothOn(alice.userID)).to.deep.equal({ second, library: "ROOT_MISMATCH" });
  });

  it("rejects a header whose hash is another one", async () => {
    world.lie(lieAt("eth_getBlockByNumber", async (forward) => ({ ...((await forward()) as object), gasUsed: "0x1" })));
    expect((await bothOn(alice.userID)).second).to.deep.equal({ code: 1, verdict: "HEADER_MISMATCH" });
  });

  it("exits with 3 if an endpoint does not answer, which says nothing about the key", async () => {
    world.lie(() => Promise.reject(new Error("unavailable")));
    expect((await bothOn(alice.userID)).second).to.deep.equal({ code: 3 });
  });
});
