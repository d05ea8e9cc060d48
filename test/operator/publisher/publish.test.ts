import { expect } from "chai";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { FolderStore, MemoryJournal, type PublishOptions } from "@keyroot/operator/publisher";
import { TransportError, VerificationError } from "keyroot/internal/errors";
import { userIDToHex } from "keyroot/internal/identity";
import { parseMerkleFile } from "keyroot/internal/merkle";
import { fetchUserCount } from "keyroot/internal/registry";
import type { RpcCall } from "keyroot/internal/transport";
import { sampleRecords } from "../../support/samples.ts";
import { publishing } from "../../support/publisher/publishing.ts";
import { failure, never } from "../../support/support.ts";
import { describeOnBoth } from "../../support/chain/freshRegistry.ts";

const OTHER = "f".repeat(64);

describeOnBoth("publish", (startChain) => {
  const { fresh, publishVia, publishAll, beforeSending, verify, stored } = publishing(startChain);

  describe("without faults", () => {
    it("publishes every record, so that clients can verify it", async () => {
      const records = sampleRecords(9);
      const { published, alreadyPublished } = await publishAll(records);
      expect(alreadyPublished).to.equal(0);
      expect(published).to.have.lengthOf(1);
      for (const record of records) expect(await verify(record)).to.deep.include({ record, root: published[0]?.root });
    });

    it("returns each root with its users, file and transaction", async () => {
      const records = sampleRecords(3);
      const { published } = await publishAll(records);
      const [{ root, userIDs, fileBytes, addedCount, blockNumber, gasUsed, transactionHash } = never()] = published;
      expect(userIDs).to.deep.equal(records.map(({ userID }) => userID).toSorted());
      expect(fileBytes).to.equal((await stat(join(fresh.filesDir, `${root}.json`))).size);
      expect(addedCount).to.equal(3);
      expect(transactionHash).to.match(/^0x[0-9a-f]{64}$/);
      expect(blockNumber).to.be.greaterThan(0);
      expect(gasUsed).to.be.greaterThan(60_000);
    });

    it("adds several roots if the users do not fit into one transaction", async () => {
      const records = sampleRecords(1500);
      const { published } = await publishAll(records, { usersPerFile: 700 });
      expect(published.map(({ addedCount }) => addedCount)).to.deep.equal([700, 700, 100]);
      expect(await stored()).to.have.members(published.map(({ root }) => `${root}.json`));
      for (const i of [0, 749, 1499]) await verify(records[i] ?? never());
    });

    it("stores 64 users per file by default, and fills each block with transactions", async () => {
      let isEverySent = false;
      const stays: number[] = [];
      // The chain makes no block until all transactions are sent.
      await fresh.call("evm_setAutomine", [false]);
      const onEvent: PublishOptions["onEvent"] = ({ event }) => {
        if (event === "sent") stays.push(stays.length);
        if (stays.length < 10 || isEverySent) return;
        isEverySent = true;
        void fresh.call("evm_setAutomine", [true]).then(() => fresh.call("evm_mine", []));
      };
      const { published } = await publishAll(sampleRecords(600), { onEvent });
      expect(published.map(({ addedCount }) => addedCount)).to.deep.equal([...Array<number>(9).fill(64), 24]);
      expect(new Set(published.map(({ blockNumber }) => blockNumber)).size).to.equal(1);
    });

    it("makes smaller files if the node rejects large transactions", async () => {
      const limited = fresh.at("eth_estimateGas", async (forward) => {
        const gas = await forward();
        if (Number(gas) > 1_000_000) throw new TransportError("RPC_ERROR", "too much");
        return gas;
      });
      const { published } = await publishVia(limited, sampleRecords(90), { usersPerFile: 80 });
      expect(published.map(({ addedCount }) => addedCount)).to.deep.equal([39, 39, 12]);
    });

    it("checks that all files are served before it sends a transaction", async () => {
      const checked: string[] = [];
      const whenSending: [string[], string[]][] = [];
      const via = beforeSending(async () => {
        whenSending.push([await stored(), [...checked]]);
      });
      const { published } = await publishVia(via, sampleRecords(5), {
        usersPerFile: 2,
        fetchFile: async (root) => {
          checked.push(root);
          return new Uint8Array(await (await fetch(`${fresh.merkleUrl}/${root}.json`)).arrayBuffer());
        },
      });
      const roots = published.map(({ root }) => root);
      expect(roots).to.have.lengthOf(3);
      expect(whenSending).to.have.lengthOf(3);
      for (const [files, served] of whenSending) {
        expect(files).to.have.members(roots.map((root) => `${root}.json`));
        expect(served).to.deep.equal(roots);
      }
      // The proof fetches each file again.
      expect(checked).to.deep.equal([...roots, ...roots]);
    });

    it("reports the progress of each stage", async () => {
      const reported: string[] = [];
      const onProgress: PublishOptions["onProgress"] = (stage, done, users) =>
        reported.push(`${stage} ${done}/${users}`);
      await publishAll(sampleRecords(40), { usersPerFile: 30, onProgress });
      expect(reported).to.deep.equal([
        "reading roots 40/40",
        "making files 30/40",
        "making files 40/40",
        "adding roots 0/40",
        "adding roots 0/40",
        "adding roots 30/40",
        "adding roots 40/40",
        "proving keys 30/40",
        "proving keys 40/40",
      ]);
    });

    it("writes files that any client can check", async () => {
      const { published } = await publishAll(sampleRecords(5), { usersPerFile: 3 });
      for (const { root, userIDs } of published) {
        const { records } = parseMerkleFile(await readFile(join(fresh.filesDir, `${root}.json`)), root);
        expect(records.map(({ userID }) => userID)).to.deep.equal(userIDs);
      }
    });
  });

  describe("with users who have a root", () => {
    it("reports their root and publishes the other users", async () => {
      const records = sampleRecords(10);
      const first = await publishAll(records.slice(0, 4));
      const reported: unknown[] = [];
      const onEvent: PublishOptions["onEvent"] = (event) => {
        if (event.event === "alreadyPublished") reported.push(...event.users);
      };
      const { published, alreadyPublished } = await publishAll(records, { onEvent });
      const root = first.published[0]?.root;
      expect(alreadyPublished).to.equal(4);
      expect(reported).to.have.deep.members(records.slice(0, 4).map(({ userID }) => ({ userID, root })));
      expect(published.map(({ addedCount }) => addedCount)).to.deep.equal([6]);
      for (const record of records) await verify(record);
    });

    it("does not publish a second key for a user", async () => {
      const [one = never(), two = never()] = sampleRecords(2);
      await publishAll([one]);
      const { published, alreadyPublished } = await publishAll([{ ...two, userID: one.userID }]);
      expect([published.length, alreadyPublished]).to.deep.equal([0, 1]);
      await verify(one);
    });

    it("sends nothing if all users already have a root", async () => {
      const records = sampleRecords(3);
      await publishAll(records);
      const files = await stored();
      const via = beforeSending(() => {
        throw new Error("nothing to send");
      });
      expect((await publishVia(via, records)).alreadyPublished).to.equal(3);
      expect(await stored()).to.deep.equal(files);
    });
  });

  describe("after an interruption", () => {
    const killed = new Error("killed");

    it("continues from stored files whose roots were not added", async () => {
      const records = sampleRecords(5);
      const via = beforeSending(() => {
        throw killed;
      });
      expect(await failure(publishVia(via, records, { usersPerFile: 2 }))).to.equal(killed);
      const files = await stored();
      expect(files).to.have.lengthOf(3);
      for (const record of records) expect(await failure(verify(record))).to.have.property("code", "NOT_PUBLISHED");

      const { published, alreadyPublished } = await publishAll(records, { usersPerFile: 2 });
      expect(alreadyPublished).to.equal(0);
      expect(published.map(({ root }) => `${root}.json`)).to.have.members(files);
      expect(await stored()).to.have.members(files);
      for (const record of records) await verify(record);
    });

    it("continues after the roots that are already on the chain", async () => {
      const records = sampleRecords(6);
      const via = beforeSending((count) => {
        if (count === 2) throw killed;
      });
      expect(await failure(publishVia(via, records, { usersPerFile: 2 }))).to.equal(killed);
      const { published, alreadyPublished } = await publishAll(records, { usersPerFile: 2 });
      expect([published.length, alreadyPublished]).to.deep.equal([2, 2]);
      for (const record of records) await verify(record);
    });

    it("first sends the transaction that was recorded but not sent", async () => {
      const journal = new MemoryJournal();
      const records = sampleRecords(8);
      const via = beforeSending(() => {
        throw killed;
      });
      const options = { usersPerFile: 2, journal, sending: { inFlight: 2 }, times: { stuckAfterMs: 60_000 } };
      expect(await failure(publishVia(via, records, options))).to.equal(killed);
      expect(journal.attempts()).to.have.lengthOf(1);

      const sent: string[] = [];
      const onEvent: PublishOptions["onEvent"] = (event) => {
        // A node that mines at once rejects nonces after a gap. The event then contains no hash.
        if (event.event === "sent" || event.event === "replaced") sent.push(`${event.event} ${typeof event.hash}`);
      };
      await publishAll(records, { ...options, onEvent });
      expect(sent).to.deep.equal(["replaced string", "sent string", "sent string", "sent string"]);
      for (const record of records) await verify(record);
    });

    it("does not repeat a transaction whose response was lost", async () => {
      const records = sampleRecords(3);
      const nonces: unknown[] = [];
      const via = fresh.at("eth_sendTransaction", async (forward, [request]) => {
        await forward();
        nonces.push((request as { nonce: string }).nonce);
        throw new TransportError("TIMEOUT", "lost");
      });
      const { published, alreadyPublished } = await publishVia(via, records);
      expect([published.length, alreadyPublished]).to.deep.equal([1, 0]);
      expect(nonces).to.have.lengthOf(1);
      for (const record of records) await verify(record);
    });
  });

  describe("with another publisher at the same time", () => {
    it("reports users with a different root as superseded", async () => {
      const records = sampleRecords(5);
      const taken = records.slice(0, 2).map(({ userID }) => userID);
      const via = beforeSending((count) =>
        count === 1
          ? fresh.send(fresh.owner, "addMerkleTreeRoot", `0x${OTHER}`, `0x${taken.map(userIDToHex).join("")}`)
          : undefined,
      );
      const { published, superseded } = await publishVia(via, records);
      expect(superseded).to.have.deep.members(taken.map((userID) => ({ userID, root: OTHER })));
      const [{ addedCount, userIDs } = never()] = published;
      expect(addedCount).to.equal(3);
      const own = records.slice(2);
      expect(userIDs).to.have.members(own.map(({ userID }) => userID));
      for (const record of own) await verify(record);
    });

    for (const [at, usersPerFile] of [
      [1, 3],
      [1, 2],
      [3, 2],
    ] as const) {
      it(`sends each root once if a publisher with ${usersPerFile} users per file runs before transaction ${at}`, async () => {
        const records = sampleRecords(12);
        let sent = 0;
        const paused = beforeSending(async (count) => {
          sent = count;
          if (count === at) await publishAll(records, { usersPerFile });
        });
        const { published, superseded } = await publishVia(paused, records, { usersPerFile: 3 });
        const users = published.reduce((sum, { users }) => sum + users, superseded.length);
        expect([sent, users]).to.deep.equal([4, 12]);
        expect(await fetchUserCount(fresh.call, fresh.contract)).to.equal(12);
        for (const record of records) await verify(record);
      });
    }

    it("publishes each user once", async () => {
      const records = sampleRecords(20);
      await Promise.all([publishAll(records), publishAll(records)]);
      expect(String(await fetchUserCount(fresh.call, fresh.contract))).to.equal("20");
      expect(await stored()).to.have.lengthOf(1);
      for (const record of records) await verify(record);
    });
  });

  describe("with wrong files", () => {
    const failsIfSent = beforeSending(() => {
      throw new Error("no root must be added");
    });

    it("adds no root if the store has different content", async () => {
      const folder = new FolderStore(fresh.filesDir);
      const others = [Buffer.from("{}"), (bytes: Uint8Array) => bytes.subarray(0, -1)] as const;
      for (const other of others) {
        const store = {
          put: folder.put.bind(folder),
          get: async (root: string) => (typeof other === "function" ? other(await folder.get(root)) : other),
        };
        expect(await failure(publishVia(failsIfSent, sampleRecords(3), { store }))).to.have.property("step", "file");
      }
    });

    it("adds no root if one of several files is not served", async () => {
      let files = 0;
      const fetchFile = async (root: string) => {
        if (++files === 3) throw new TransportError("UNREACHABLE", "");
        return readFile(join(fresh.filesDir, `${root}.json`));
      };
      const publishing = publishVia(failsIfSent, sampleRecords(5), { usersPerFile: 2, fetchFile });
      expect(await failure(publishing)).to.have.property("code", "UNREACHABLE");
    });
  });

  describe("after it added the roots", () => {
    /** Creates an endpoint. After it receives a transaction, `answer` may replace its responses. */
    const afterSending = (answer: (method: string) => unknown): RpcCall => {
      let sent = false;
      return async (method, params) => {
        const replaced = sent ? answer(method) : undefined;
        if (replaced !== undefined) return replaced;
        if (method === "eth_sendTransaction") sent = true;
        return fresh.call(method, params);
      };
    };

    it("fails if the endpoint then reports a different chain", async () => {
      const published: unknown[] = [];
      const onEvent: PublishOptions["onEvent"] = ({ event }) => {
        if (event === "published") published.push(event);
      };
      const via = afterSending((method) => (method === "eth_chainId" ? "0x1" : undefined));
      const error = await failure(publishVia(via, sampleRecords(3), { onEvent }));
      expect(error).to.be.an.instanceof(VerificationError).that.includes({ code: "CHAIN_ID_MISMATCH", step: "root" });
      expect(published).to.be.empty;
    });

    for (const [what, code, change] of [
      ["is missing", "FILE_NOT_FOUND", undefined],
      ["has other records", "TREE_MISMATCH", (text: string) => text.replace('"leaves":3', '"leaves":4')],
      ["is cut short", "JSON_INVALID", (text: string) => text.slice(0, -1)],
    ] as const) {
      it(`fails if the served file ${what}`, async () => {
        let sent = false;
        const fetchFile = async (root: string) => {
          const text = await readFile(join(fresh.filesDir, `${root}.json`), "utf8");
          if (!sent) return Buffer.from(text);
          if (change === undefined) throw new VerificationError("file", "FILE_NOT_FOUND", "");
          return Buffer.from(change(text));
        };
        const via = beforeSending(() => {
          sent = true;
        });
        expect(await failure(publishVia(via, sampleRecords(3), { fetchFile }))).to.have.property("code", code);
      });
    }
  });

  describe("the chain id", () => {
    it("must match the caller's chain id before anything is signed", async () => {
      const send = () => Promise.reject(new Error("signed"));
      const main = fresh.at("eth_chainId", () => "0x1");
      expect(await failure(publishVia(main, sampleRecords(2), { send }))).to.include({ code: "CHAIN_ID_MISMATCH" });
    });

    it("is part of each request to an endpoint that signs", async () => {
      const chainIds: unknown[] = [];
      const via = fresh.at("eth_sendTransaction", (forward, [request]) => {
        chainIds.push((request as { chainId?: string }).chainId);
        return forward();
      });
      await publishVia(via, sampleRecords(2));
      expect(chainIds).to.deep.equal(["0x7a69"]);
    });
  });

  describe("with invalid input", () => {
    const [one = never(), two = never()] = sampleRecords(2);
    for (const [what, code, records, usersPerFile] of [
      ["an empty list of records", "NO_RECORDS", [], 700],
      ["a user with two records", "DUPLICATE_USER", [one, { ...two, userID: one.userID }], 700],
      ["a record with another key's id", "KEY_ID_MISMATCH", [{ ...one, keyID: two.keyID }], 700],
      ["0 users per file", "ARGUMENT_INVALID", [one], 0],
      ["-1 users per file for 1,000 users", "ARGUMENT_INVALID", sampleRecords(1000), -1],
      ["half a user per file", "ARGUMENT_INVALID", [one], 0.5],
    ] as const) {
      it(`rejects ${what}`, async () => {
        expect(await failure(publishAll(records, { usersPerFile }))).to.have.property("code", code);
        expect(await stored()).to.be.empty;
      });
    }
  });
});
