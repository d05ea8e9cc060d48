import { expect } from "chai";
import { chmod, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { executeBySafe, FolderStore, publish, type PublishOptions, Registry } from "@keyroot/operator/publisher";
import { ArgumentError, TransportError } from "keyroot/internal/errors";
import type { UserID } from "keyroot/internal/identity";
import { encodeGetMerkleTreeRoot } from "keyroot/internal/registry";
import type { RpcCall } from "keyroot/internal/transport";
import { batchingCaller } from "../../../../packages/keyroot/src/transport/batches.ts";
import { awaitExecution } from "../../../../packages/operator/src/publisher/safe/awaitExecution.ts";
import type { RootBatch } from "../../../../packages/operator/src/publisher/chain/registry.ts";
import {
  safeBatchChecksum,
  type SafeBatchFile,
  toSafeBatchFiles,
} from "../../../../packages/operator/src/publisher/safe/safeBatchFile.ts";
import { decodeMerkleTreeRoot } from "../../../../packages/keyroot/src/registry/answers.ts";
import { sampleRecords, sampleUserID, sha256 } from "../../../support/samples.ts";
import { failure, modeOf, never, temporaryFolder } from "../../../support/support.ts";
import { describeOnBoth, freshRegistry } from "../../../support/chain/freshRegistry.ts";
import { SafeOwner } from "../../../support/chain/safeOwner.ts";
import { LOCAL } from "../../../support/chain/local.ts";
import { ENDLESS_MS } from "../../../support/endless.ts";

/** The gas limit of a transaction (EIP-7825). */
const MAX_GAS = 2n ** 24n;

const CONTRACT = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const SAFE = "0xDF8a1Ce35c9a6ACE153B4e0767942f1E2291a1Aa";

function batchesOf(...sizes: number[]): RootBatch[] {
  return sizes.map((size, i) => ({
    root: sha256(`root ${i}`),
    userIDs: Array.from({ length: size }, (_, j) => sampleUserID(j, i)),
  }));
}

const filesFor = (batches: RootBatch[], usersPerTransaction = 700, safe = SAFE, contract = CONTRACT, chainId = 31337) =>
  toSafeBatchFiles({ chainId, contract, owner: safe }, batches, 1_700_000_000_000, usersPerTransaction);

describe("toSafeBatchFiles", () => {
  it("makes readable files in the Transaction Builder's format", () => {
    const [file, ...others] = filesFor(batchesOf(2));
    expect(others).to.be.empty;
    expect(file).to.deep.equal({
      version: "1.0",
      chainId: "31337",
      createdAt: 1_700_000_000_000,
      meta: {
        name: "Keyroot 1 of 1",
        description: "Adds 1 root for 2 users",
        txBuilderVersion: "1.18.2",
        createdFromSafeAddress: SAFE,
        createdFromOwnerAddress: "",
        checksum: file?.meta.checksum,
      },
      transactions: [
        {
          to: CONTRACT,
          value: "0",
          data: null,
          contractMethod: {
            inputs: [
              { internalType: "bytes32", name: "merkleTreeRoot", type: "bytes32" },
              { internalType: "bytes", name: "userIDsPacked", type: "bytes" },
            ],
            name: "addMerkleTreeRoot",
            payable: false,
          },
          contractInputsValues: {
            merkleTreeRoot: `0x${sha256("root 0")}`,
            userIDsPacked: `0x${[0, 1].map((i) => sha256(`0:${i}`).slice(0, 40)).join("")}`,
          },
        },
      ],
    });
  });

  it("makes the same files for the same plan, byte for byte", () => {
    expect(JSON.stringify(filesFor(batchesOf(3, 4, 5)))).to.equal(JSON.stringify(filesFor(batchesOf(3, 4, 5))));
  });

  const shapeOf = (sizes: number[], max: number) =>
    filesFor(batchesOf(...sizes), max).map(({ transactions }) =>
      transactions.map(({ contractInputsValues }) => (contractInputsValues.userIDsPacked.length - 2) / 40),
    );

  it("fills a file with the roots that one transaction can add", () => {
    expect(shapeOf([700, 700, 100], 700)).to.deep.equal([[700], [700], [100]]);
    expect(shapeOf([300, 300, 100, 1], 700)).to.deep.equal([[300, 300, 100], [1]]);
    expect(shapeOf([1, 700, 1], 700)).to.deep.equal([[1], [700], [1]]);
    expect(shapeOf([], 700)).to.deep.equal([]);
  });

  it("puts at most 100 calls into a file", () => {
    expect(shapeOf(Array<number>(201).fill(1), 700).map(({ length }) => length)).to.deep.equal([100, 100, 1]);
  });

  it("rejects batches that are too large and invalid addresses", () => {
    const wrongChecksum = `${CONTRACT.slice(0, -1)}4`;
    for (const rejected of [
      () => filesFor(batchesOf(1, 701)),
      () => filesFor(batchesOf(1), 700, "safe"),
      () => filesFor(batchesOf(1), 700, SAFE, wrongChecksum),
    ]) {
      expect(rejected).to.throw(ArgumentError).with.property("code", "ARGUMENT_INVALID");
    }
  });
});

describe("safeBatchChecksum", () => {
  it("equals the checksum in a file exported by the Transaction Builder 1.18.2", () => {
    const file = {
      version: "1.0",
      chainId: "1",
      createdAt: 1761326849944,
      meta: {
        name: "Transactions Batch",
        description: "",
        txBuilderVersion: "1.18.2",
        createdFromSafeAddress: "0xA77DE01e157f9f57C7c4A326eeE9C4874D0598b6",
        createdFromOwnerAddress: "",
        checksum: "0x8b5032f716845c8b08bab3d63dbd9ba92e056f3557793cd041e59b84e16aa989",
      },
      transactions: [
        {
          to: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
          value: "0",
          data: null,
          contractMethod: {
            inputs: [
              { internalType: "address", name: "spender", type: "address" },
              { internalType: "uint256", name: "value", type: "uint256" },
            ],
            name: "approve",
            payable: false,
          },
          contractInputsValues: { spender: "0x474e5Ded6b5D078163BFB8F6dBa355C3aA5478C8", value: "100000000000" },
        },
      ],
    };
    expect(safeBatchChecksum(file)).to.equal(file.meta.checksum);
  });

  it("equals the checksum in the Transaction Builder's own tests", () => {
    const to = "0x49d4450977E2c95362C13D3a31a09311E0Ea26A6";
    const method = (type: string, name: string, method: string) => ({
      inputs: [{ internalType: type, name, type }],
      name: method,
      payable: false,
    });
    const file = {
      version: "1.0",
      chainId: "4",
      createdAt: 1646321521061,
      meta: {
        name: "test batch file",
        txBuilderVersion: "1.4.0",
        createdFromSafeAddress: SAFE,
        createdFromOwnerAddress: to,
      },
      transactions: [
        {
          to,
          value: "0",
          contractMethod: method("address", "paramAddress", "testAddress"),
          contractInputsValues: { paramAddress: to },
        },
        {
          to,
          value: "0",
          contractMethod: method("bool", "paramBool", "testBool"),
          contractInputsValues: { paramAddress: "", paramBool: "false" },
        },
        {
          to,
          value: "2000000000000000000",
          data: "0x42f4579000000000000000000000000049d4450977e2c95362c13d3a31a09311e0ea26a6",
        },
      ],
    };
    expect(safeBatchChecksum(file)).to.equal("0x86c81826dbf7e8a37612153294cc85fdf5c81998dd0a44b86d945502a7eace7c");
  });

  it("covers all fields except the name", () => {
    const [file = never()] = filesFor(batchesOf(1, 1));
    const { meta, transactions } = file;
    expect(safeBatchChecksum(file)).to.equal(meta.checksum);
    expect(safeBatchChecksum({ ...file, meta: { ...meta, name: "other" } })).to.equal(meta.checksum);
    for (const changed of [
      { ...file, chainId: "1" },
      { ...file, transactions: transactions.toReversed() },
      { ...file, meta: { ...meta, description: "other" } },
    ]) {
      expect(safeBatchChecksum(changed)).not.to.equal(meta.checksum);
    }
  });
});

describeOnBoth("a registry whose owner is a Safe", (startChain) => {
  const fresh = freshRegistry(startChain);
  let safe: SafeOwner;
  let contract: string;
  let batchedCall: RpcCall;
  before(async () => {
    batchedCall = batchingCaller(fresh.rpcUrl, 1_000, { maxBytes: 2 ** 20, timeoutMs: ENDLESS_MS });
    safe = await SafeOwner.create(fresh.rpcUrl);
  });
  after(() => {
    safe.close();
  });
  beforeEach(async () => {
    contract = await fresh.deploy(safe.address);
  });

  const filesOf = (batches: RootBatch[], max = 700) => filesFor(batches, max, safe.address, contract, fresh.chainId);
  const rootsOf = (userIDs: readonly UserID[]) =>
    Promise.all(
      userIDs.map(async (userID) => {
        const call = { to: contract, data: encodeGetMerkleTreeRoot(userID) };
        return decodeMerkleTreeRoot(await batchedCall("eth_call", [call, "latest"]));
      }),
    );

  it("accepts all roots of a file that two of three owners have signed", async () => {
    const batches = batchesOf(3, 2, 4);
    const files = filesOf(batches);
    expect(files).to.have.lengthOf(1);
    for (const file of files) expect((await safe.execute(file)).status).to.equal(1);
    for (const { root, userIDs } of batches) {
      expect(await rootsOf(userIDs)).to.deep.equal(userIDs.map(() => root));
    }
  });

  it("accepts 715 users in one transaction within the gas limit", async () => {
    const [batch = never()] = batchesOf(715);
    const [file = never()] = filesOf([batch], 715);
    const { status, gasUsed } = await safe.execute(file, MAX_GAS);
    expect([status, gasUsed < MAX_GAS]).to.deep.equal([1, true]);
    expect(await rootsOf(batch.userIDs)).to.deep.equal(batch.userIDs.map(() => batch.root));
  });

  describe("publish", () => {
    const folder = temporaryFolder();
    const publishBySafe = async (
      beforeExecution: (paths: string[]) => Promise<void> | void,
      onEvent: NonNullable<PublishOptions["onEvent"]> = () => undefined,
    ) =>
      publish(sampleRecords(5), {
        ...LOCAL,
        registry: await Registry.connect(fresh.call, contract),
        store: new FolderStore(fresh.filesDir),
        usersPerFile: 2,
        onEvent,
        execute: (batches, plan) =>
          executeBySafe(batches, plan, {
            dir: folder.path,
            now: () => 0,
            getMerkleTreeRoots: rootsOf,
            pollMs: 20,
            onFiles: (paths) => {
              void (async () => {
                await beforeExecution(paths);
                for (const path of paths) await safe.execute(JSON.parse(await readFile(path, "utf8")) as SafeBatchFile);
              })();
            },
          }),
      });

    /** Writes the files of batches, and ends the wait. */
    const exportTo = async (into: string, batches: RootBatch[]) => {
      const paths: string[] = [];
      const stopping = new AbortController();
      const onFiles = (written: string[]) => {
        paths.push(...written);
        stopping.abort();
      };
      const target = { chainId: 31337, genesisHash: "", contract, owner: SAFE };
      const options = { dir: into, now: () => 0, getMerkleTreeRoots: rootsOf, signal: stopping.signal, onFiles };
      return { error: await failure(executeBySafe(batches, target, options)), paths };
    };

    it("publishes after the Safe's owners have executed its files", async () => {
      const files: string[] = [];
      const { published } = await publishBySafe((paths) => void files.push(...paths));
      expect(files.map((path) => basename(path))).to.deep.equal(["safe-1-of-1.json"]);
      expect(published.map(({ userIDs }) => userIDs.length)).to.deep.equal([2, 2, 1]);
    });

    it("removes the files of an earlier run", async () => {
      const into = join(folder.path, "again");
      await exportTo(into, batchesOf(700, 700, 700));
      expect(await readdir(into)).to.have.lengthOf(3);
      await writeFile(join(into, "safe-notes.json"), "");
      await exportTo(into, batchesOf(700));
      expect((await readdir(into)).toSorted()).to.deep.equal(["safe-1-of-1.json", "safe-notes.json"]);
    });

    it("writes files and a folder that only the owner can read", async function () {
      // Windows has no POSIX modes.
      if (process.platform === "win32") this.skip();
      const umask = process.umask(0);
      try {
        const into = join(folder.path, "new");
        const { error, paths } = await exportTo(into, batchesOf(1));
        expect(error).to.include({ code: "ABORTED" });
        expect([await modeOf(into), ...(await Promise.all(paths.map(modeOf)))]).to.deep.equal(["700", "600"]);
        await chmod(into, 0o777);
        expect((await exportTo(into, batchesOf(1))).error).to.include({ code: "FILE_PERMISSIONS" });
      } finally {
        process.umask(umask);
      }
    });

    it("reports the superseded users", async () => {
      const [userID = ""] = sampleRecords(1).map(({ userID }) => userID);
      const other = { root: sha256("other"), userIDs: [userID] };
      const executed: unknown[] = [];
      const { superseded } = await publishBySafe(
        async () => {
          for (const file of filesOf([other])) await safe.execute(file);
        },
        (event) => {
          if (event.event === "executed") executed.push(event);
        },
      );
      expect(superseded).to.deep.equal([{ userID, root: other.root }]);
      expect(executed).to.deep.equal([{ event: "executed", published: 4, superseded }]);
    });
  });

  describe("awaitExecution", () => {
    const waiting = (batches: RootBatch[], options = {}) => {
      const reported: number[] = [];
      const execution = awaitExecution(batches, {
        getMerkleTreeRoots: rootsOf,
        pollMs: 20,
        onProgress: (done) => reported.push(done),
        ...options,
      });
      return { execution, reported };
    };

    it("waits until the owners have executed all files", async () => {
      const batches = batchesOf(400, 400, 5);
      const files = filesOf(batches);
      expect(files).to.have.lengthOf(2);
      const { execution, reported } = waiting(batches);
      for (const [i, file] of files.entries()) {
        // Execute the next file only after the progress of the earlier files was reported.
        while (reported.at(-1) !== 400 * i) await sleep(5);
        await safe.execute(file);
      }
      expect(await execution).to.deep.equal({ published: 805, superseded: [] });
      // A poll can read one of the second file's two roots before the block, and the other after it.
      expect([...new Set(reported)].filter((done) => ![405, 800].includes(done))).to.deep.equal([0, 400, 805]);
    });

    it("returns the users who got their root from a faster publisher", async () => {
      const batches = batchesOf(3);
      const [first = sampleUserID(0)] = batches[0]?.userIDs ?? [];
      const other = { root: sha256("other"), userIDs: [first] };
      for (const file of filesOf([other, ...batches])) await safe.execute(file);
      expect(await waiting(batches).execution).to.deep.equal({
        published: 2,
        superseded: [{ userID: first, root: other.root }],
      });
    });

    it("reads one user per batch until that user has a root", async () => {
      const sizes: number[] = [];
      const controller = new AbortController();
      const getMerkleTreeRoots = (userIDs: readonly UserID[]) => {
        if (sizes.push(userIDs.length) === 3) controller.abort();
        return Promise.resolve(userIDs.map(() => undefined));
      };
      const { execution } = waiting(batchesOf(50, 60, 70), { getMerkleTreeRoots, signal: controller.signal });
      await failure(execution);
      expect(sizes).to.deep.equal([3, 3, 3]);
    });

    it("ends at once when the caller aborts it", async () => {
      const controller = new AbortController();
      const { execution } = waiting(batchesOf(1), { signal: controller.signal, pollMs: 60_000 });
      const failed = failure(execution);
      await sleep(50);
      controller.abort();
      expect(await failed)
        .to.be.an.instanceof(TransportError)
        .with.property("code", "ABORTED");
      const again = waiting(batchesOf(1), { signal: controller.signal });
      expect(await failure(again.execution)).to.have.property("code", "ABORTED");
    });

    it("fails only after 20 consecutive failed polls", async () => {
      const batches = batchesOf(2);
      let polls = 0;
      const errors: string[] = [];
      const options = {
        pollMs: 1,
        onPollError: ({ code }: TransportError) => errors.push(code),
        getMerkleTreeRoots: (userIDs: readonly UserID[]) =>
          ++polls <= 5 ? Promise.reject(new TransportError("TIMEOUT", "Too late.")) : rootsOf(userIDs),
      };
      for (const file of filesOf(batches)) await safe.execute(file);
      expect(await waiting(batches, options).execution).to.include({ published: 2 });
      expect(errors).to.deep.equal(Array(5).fill("TIMEOUT"));

      polls = -1_000;
      const error = await failure(waiting(batches, options).execution);
      expect(error).to.have.property("code", "TIMEOUT");
      expect(errors).to.have.lengthOf(5 + 19);
    });

    it("returns at once without batches", async () => {
      expect(await waiting([]).execution).to.deep.equal({ published: 0, superseded: [] });
    });
  });
});
