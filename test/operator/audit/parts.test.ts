import { expect } from "chai";
import { copyFile, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type KeyRecord, userIDFromBytes } from "keyroot/internal/identity";
import { AuditState, mergeParts } from "@keyroot/operator/audit";
import { auditUsers } from "../../../packages/operator/src/audit/auditUsers.ts";
import { USER_BYTES } from "../../../packages/operator/src/audit/auditFile.ts";
import { isInPart, parsePart } from "../../../packages/operator/src/audit/part.ts";
import { checksumOf } from "../../../packages/operator/src/disk/stateDatabase.ts";
import { auditedWorld, LIMITS, outcomeOf } from "../../support/chain/auditedWorld.ts";
import { lieAt } from "../../support/chain/lyingEndpoint.ts";
import { sampleRecords, sha256 } from "../../support/samples.ts";
import { describeWithProgram } from "../../support/processes/commandLine.ts";
import { failure, never } from "../../support/support.ts";

const COUNT = 3;
const NUMBERS = [1, 2, 3];
const records = sampleRecords(24);
const [one = never()] = records;
/** A user with a different key. */
const two = records.find(({ pubKey }) => pubKey !== one.pubKey) ?? never();

describe("the parts of an audit", () => {
  it("contain each root exactly once", () => {
    for (const count of [1, 2, 3, 16, 256]) {
      for (let i = 0; i < 300; i++) {
        const holding = Array.from({ length: count }, (_, n) => n + 1).filter((number) =>
          isInPart(sha256(`root ${i}`), { number, count }),
        );
        expect(holding).to.have.length(1);
      }
    }
  });

  it("are numbered from 1 to the number of parts", async () => {
    expect(parsePart("3/16")).to.deep.equal({ number: 3, count: 16 });
    for (const text of ["0/3", "4/3", "1/257", "1", "1/3/5", "-1/3", "a/b", "1/0"]) {
      expect(await failure(Promise.resolve().then(() => parsePart(text)))).to.include({ code: "ARGUMENT_INVALID" });
    }
  });
});

describe("auditUsers", () => {
  it("returns the same findings with any number of users per pass", () => {
    // A few users are in several files, some with a different key.
    const files = new Map(
      Array.from({ length: 40 }, (_, file) => {
        const users = Array.from({ length: 25 }, (_, i) => {
          const number = i === 0 ? file % 7 : i === 1 ? 10 + (file % 5) : 1000 * file + i;
          const key = i === 0 ? file % 3 : 0;
          return Buffer.from(sha256(`user ${number}`).slice(0, 40) + sha256(`key ${key}`).slice(0, 32), "hex");
        });
        return [sha256(`root ${file}`), Buffer.concat(users)] as const;
      }),
    );
    const roots = [...files.keys()];
    const others = roots.slice(1).map((root, i) => {
      const userID = userIDFromBytes((files.get(root) ?? never()).subarray(0, 20));
      return { root, users: [{ userID, userRoot: roots[i % 2 === 0 ? 0 : i] ?? never() }] };
    });
    const find = (usersPerPass: number) => {
      const usersOf = (root: string) => files.get(root);
      const found = auditUsers({ roots, count: 40 * 25, usersOf, others: () => others }, usersPerPass);
      return [...found].map(({ code, message }) => `${code} ${message}`).sort();
    };
    const whole = find(Infinity);
    expect(whole.length).to.equal(7 + others.length);
    for (const usersPerPass of [1000, 500, 100, 7]) expect(find(usersPerPass)).to.deep.equal(whole);
    expect(USER_BYTES).to.equal(36);
  });
});

describe("mergeParts", () => {
  const world = auditedWorld();
  const batches = Array.from({ length: 8 }, (_, i) => records.slice(3 * i, 3 * i + 3));

  const publishAll = async (changed: readonly (readonly KeyRecord[])[] = batches) => {
    const roots: string[] = [];
    for (const batch of changed) roots.push(await world.publish(batch));
    return roots;
  };
  const nameOf = (number: number) => `part${number}.sqlite`;
  const runPart = async (number: number, changes: Parameters<typeof world.audit>[0] = {}, name = nameOf(number)) => {
    using state = await world.openState(name, { fresh: true });
    const at = { blockHash: await world.head() };
    return await world.audit({ state, at, part: { number, count: COUNT }, ...changes });
  };
  const runAll = async (changes: Parameters<typeof world.audit>[0] = {}) => {
    for (const number of NUMBERS) await runPart(number, changes);
  };
  const merge = async (names = NUMBERS.map(nameOf)) => {
    using opened = new DisposableStack();
    const states: AuditState[] = [];
    for (const name of names) states.push(opened.use(await AuditState.openExisting(join(world.folder, name))));
    return mergeParts(states);
  };
  const refused = async (message: RegExp, names?: string[]) => {
    const error = await failure(merge(names));
    expect(error).to.include({ code: "PARTS_INVALID" });
    expect((error as Error).message).to.match(message);
  };
  /** Returns the fields that must be equal in the reports of a merged and a whole audit. */
  const compared = (report: Awaited<ReturnType<typeof merge>>) => {
    const { events, userCount, rootCount, usersInFiles, filesRead, evidence, straysSearched, findings } = report;
    const { list, count } = findings;
    return { events, userCount, rootCount, usersInFiles, filesRead, evidence, straysSearched, list, count };
  };
  const expectSameAsWhole = async (changes: Parameters<typeof world.audit>[0] = {}) => {
    await runAll(changes);
    const merged = await merge();
    const whole = await world.audit({ at: { blockHash: await world.head() }, ...changes });
    expect(compared(merged)).to.deep.equal(compared({ ...whole, parts: [] }));
    return outcomeOf(merged);
  };

  it("returns the same report as an undivided audit", async () => {
    const roots = await publishAll();
    expect(await expectSameAsWhole()).to.deep.equal({ verdict: "passed", codes: [] });
    const { parts } = await merge([3, 1, 2].map(nameOf));
    expect(parts.map(({ part }) => part.number)).to.deep.equal(NUMBERS);
    for (const { part, rootCount, filesFrom, filesKnown } of parts) {
      expect(rootCount).to.equal(roots.filter((root) => isInPart(root, part)).length);
      expect([filesFrom, filesKnown]).to.deep.equal([`${world.fresh.merkleUrl}/`.replace(/\/+$/, "/"), 0]);
    }
  });

  it("finds a user who has different keys in the files of two parts", async () => {
    const roots = await publishAll();
    const part = NUMBERS.map((number) => ({ number, count: COUNT })).find((part) => isInPart(roots[0] ?? "", part));
    // Add users until the root belongs to the other part.
    for (let i = 24; ; i++) {
      const batch = [{ ...two, userID: one.userID }, sampleRecords(i + 1)[i] ?? never()];
      if (!isInPart(await world.publish(batch), part ?? never())) break;
    }
    const { codes } = await expectSameAsWhole();
    expect(codes).to.include("USER_TWO_KEYS").and.to.include("USER_SUPERSEDED");
  });

  it("finds users who are missing from their root's file in another part", async () => {
    const [first = never()] = await publishAll();
    const outside = sampleRecords(26).slice(24);
    await world.add(
      first,
      outside.map(({ userID }) => userID),
    );
    await world.publish([...outside, ...sampleRecords(27).slice(26)]);
    const { codes } = await expectSameAsWhole();
    expect(codes).to.include("USER_HIDDEN").and.to.include("USER_NOT_IN_FILE");
  });

  it("reports the findings of each part once", async () => {
    const [first = never(), second = never()] = await publishAll();
    await rm(world.pathOf(`${first}.json`));
    await world.writeText(second, "{}");
    await world.writeText(sha256("stray"), "{}");
    await world.writeText("stray", "{}");
    await world.store(["{}"]);
    const { codes } = await expectSameAsWhole({ files: { dir: world.fresh.filesDir, ...LIMITS } });
    expect(codes).to.include("FILE_MISSING");
    expect(codes.filter((code) => code.startsWith("FILE_STRAY"))).to.have.length(3);
  });

  it("accepts parts that continued from a saved state", async () => {
    await publishAll();
    await runAll();
    await rm(world.fresh.filesDir, { recursive: true });
    await mkdir(world.fresh.filesDir);
    for (const number of NUMBERS) {
      using state = await world.openState(nameOf(number));
      const at = { blockHash: await world.head() };
      await world.audit({ state, at, part: { number, count: COUNT }, skipKnownFiles: true });
    }
    const report = await merge();
    expect(outcomeOf(report).verdict).to.equal("passed");
    expect([report.filesKnown, report.rootCount]).to.deep.equal([8, 8]);
  });

  describe("with invalid parts", () => {
    beforeEach(async () => {
      await publishAll();
      await runAll();
    });

    it("rejects a merge in which a part is missing", async () => {
      for (const number of NUMBERS) await refused(/missing: \d\./, NUMBERS.filter((n) => n !== number).map(nameOf));
      await refused(/no parts/, []);
    });

    it("rejects the same part twice", async () => {
      await copyFile(join(world.folder, nameOf(1)), join(world.folder, "copy.sqlite"));
      await refused(/Two states contain part 1\/3/, [...NUMBERS.map(nameOf), "copy.sqlite"]);
      await refused(/Two states contain part 1\/3/, [nameOf(1), "copy.sqlite", nameOf(3)]);
    });

    it("rejects a part of an audit with a different number of parts", async () => {
      await runPart(1, { part: { number: 2, count: 4 } }, "other.sqlite");
      await refused(/Part 2\/4 does not belong/, [nameOf(1), "other.sqlite", nameOf(3)]);
    });

    it("rejects a part that was audited at a different block", async () => {
      await world.publish(sampleRecords(27).slice(24));
      await runPart(2);
      await refused(/Part 2\/3 has the (userCount|block) /);
    });

    it("rejects a part with different evidence", async () => {
      await runPart(2, { storageProof: true });
      await refused(/Part 2\/3 has the (codeHash|storageProof) /);
    });

    it("rejects a part from the audit of a different contract or chain", async () => {
      for (const [column, value] of [
        ["contract", `0x${"12".repeat(20)}`],
        ["chain_id", 5],
        ["genesis_hash", `0x${"12".repeat(32)}`],
      ] as const) {
        await runPart(2);
        edit(2, "state", { [column]: value });
        await refused(/Part 2\/3 has the (contract|chainId|genesisHash) /);
      }
    });

    it("rejects a state without the result of a part", async () => {
      await runPart(2, { part: undefined });
      await refused(/does not contain a part's result/);
      await runPart(2, { files: { merkleUrl: "http://127.0.0.1:1", ...LIMITS } });
      await refused(/does not contain a part's result/);
      await runPart(2);
      {
        using state = await world.openState(nameOf(2));
        world.lie(lieAt("eth_getLogs", () => Promise.reject(new Error())));
        // Record a block that is not on the chain, so that the audit reads the events again.
        state.recordHistory({ ...(state.cursor ?? never()), number: 0 }, []);
        await failure(world.audit({ state, at: { blockHash: await world.head() }, part: { number: 2, count: COUNT } }));
      }
      await refused(/does not contain a part's result/);
    });

    it("rejects a part whose state contradicts its result", async () => {
      edit(2, "part_result", { root_count: 0 });
      await refused(/Part 2\/3 counts 0 roots/);
      await runPart(2);
      edit(2, "part_result", { users_in_files: 1 });
      await refused(/Part 2\/3 counts 1 user in its files/);
      await runPart(2);
      edit(2, "events", { log_index: 7 }, "WHERE position = 0");
      await refused(/Part 2\/3 has different events from part 1/);
      await runPart(2);
      const database = new DatabaseSync(join(world.folder, nameOf(2)));
      const { root } = database.prepare("SELECT root FROM files").get() as { root: string };
      database.prepare("DELETE FROM files WHERE root = ?").run(root);
      database.prepare("DELETE FROM users WHERE root = ?").run(root);
      const { file_count: files } = database.prepare("SELECT file_count FROM state").get() as { file_count: number };
      database.close();
      edit(2, "state", { file_count: files - 1 });
      await refused(/Part 2\/3 does not contain the users of the root/);
    });

    /** Changes a row and its checksum, as someone with write access to the file could. */
    function edit(number: number, table: string, changes: Record<string, string | number>, where = ""): void {
      const database = new DatabaseSync(join(world.folder, nameOf(number)));
      const row = { ...database.prepare(`SELECT * FROM ${table} ${where}`).get(), ...changes } as Record<
        string,
        string
      >;
      const values = Object.entries(row).flatMap(([name, value]) => (name === "checksum" ? [] : [value]));
      const sets = Object.keys(changes).map((name) => `${name} = ?`);
      database
        .prepare(`UPDATE ${table} SET ${sets.join(", ")}, checksum = ? ${where}`)
        .run(...Object.values(changes), checksumOf(values));
      database.close();
    }
  });
});

describeWithProgram("keyroot audit", (keyroot) => {
  const world = auditedWorld();
  const parts = () => join(world.folder, "parts");
  const place = () => [...world.chainArgs(), "--merkle-url", world.fresh.merkleUrl];

  it("merges all states in the folder of --merge-parts into one verdict", async () => {
    for (let i = 0; i < 4; i++) await world.publish(records.slice(3 * i, 3 * i + 3));
    const pinned = ["--pinned", await world.head()];
    for (const number of NUMBERS) {
      const state = ["--state", join(parts(), `${number}.sqlite`)];
      const { code, json } = await keyroot.json(["audit", ...place(), ...pinned, "--part", `${number}/3`, ...state]);
      expect([code, json["partPassed"], json["passed"]]).to.deep.equal([0, true, undefined]);
    }
    const { code, json } = await keyroot.json(["audit", "--merge-parts", parts()]);
    expect(code).to.equal(0);
    expect(json).to.include({ passed: true, userCount: 12, roots: 4, filesRead: 4 });
    expect(json["parts"]).to.have.length(3);
    expect((await keyroot.run(["audit", "--merge-parts", parts()])).stdout).to.match(
      /^Audit passed: [^]* {2}part 3\/3 {2}read /,
    );
    expect(await readdir(parts())).to.include("3.sqlite");
    await rm(join(parts(), "2.sqlite"));
    expect(await keyroot.json(["audit", "--merge-parts", parts()])).to.include({ code: 2, error: "PARTS_INVALID" });
  });

  it("exits with code 2 for --part without --pinned", async () => {
    const { code, message } = await keyroot.json(["audit", ...place(), "--part", "1/3"]);
    expect(code).to.equal(2);
    expect(message).to.include("--pinned");
  });
});
