import { expect } from "chai";
import { execFile } from "node:child_process";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { type KeyRecord, serializeKeyRecord } from "keyroot/internal/identity";
import { type AuditOptions, FINDING_CODES } from "@keyroot/operator/audit";
import { goneUrl, serve } from "../../support/servers/servers.ts";
import { encode, pointsOfSmallOrder } from "../../support/data/curve41417.ts";
import { sampleRecords } from "../../support/samples.ts";
import { closedAfterEach, failure, never } from "../../support/support.ts";
import { type Lie, lieAt } from "../../support/chain/lyingEndpoint.ts";
import { auditedWorld, LIMITS, outcomeOf } from "../../support/chain/auditedWorld.ts";

interface Log {
  address: string;
  topics: string[];
  data: string;
  blockNumber: string;
  blockHash: string;
  logIndex: string;
  removed: boolean;
}

const all = sampleRecords(9).sort((a, b) => (a.userID < b.userID ? -1 : 1));
const first = all.slice(0, 3);
const second = all.slice(3, 5);
const spare = all.slice(5);
const [one = never(), two = never()] = first;
const [newcomer = never()] = spare;
/** Returns true for the call that reads the roots of many users. Only this call has no address. */
const readsRoots = (method: string, params: readonly unknown[]) =>
  method === "eth_call" && !Object.hasOwn(params[0] as object, "to");
const word = (number: number) => `0x${number.toString(16).padStart(64, "0")}`;
const ids = (records: readonly KeyRecord[]) => records.map(({ userID }) => userID);
const inBase64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
const OTHER_ROOT = "ab".repeat(32);

/** The codes of all findings in this file's tests. */
const covered = new Set<string>();

describe("audit", () => {
  const world = auditedWorld();
  const closing = closedAfterEach();
  /** The roots of both files. */
  let firstRoot: string;
  let secondRoot: string;
  beforeEach(async () => {
    firstRoot = await world.publish(first);
    secondRoot = await world.publish(second);
  });

  const lieOfLogs = (change: (logs: Log[]) => unknown) =>
    lieAt("eth_getLogs", async (forward) => change((await forward()) as Log[]));
  const changeLog = (number: number, change: Partial<Log> | ((log: Log) => Partial<Log>)) =>
    lieOfLogs((logs) =>
      logs.map((log, i) => (i === number ? { ...log, ...(typeof change === "function" ? change(log) : change) } : log)),
    );
  const tamper = async (change: (text: string) => string | Uint8Array) => {
    const text = await world.readText(firstRoot);
    const other = change(text);
    expect(other).not.to.equal(text);
    await world.writeText(firstRoot, other);
  };
  /** Makes the endpoint withhold the first event and lower the number of users. */
  const hideFirstLog = () => {
    world.lie((method, params, truth) =>
      JSON.stringify(params).includes("0x07973ccf")
        ? word(2)
        : lieOfLogs((logs) => logs.slice(1))(method, params, truth),
    );
  };
  const inFolder = (): Partial<AuditOptions> => ({ files: { dir: world.fresh.filesDir, ...LIMITS } });
  const pinned = async (): Promise<Partial<AuditOptions>> => ({
    at: { blockHash: await world.head() },
    storageProof: true,
  });

  /** Defines a test that plants a fault. The verdict must be damage, with exactly these findings. */
  const finds = (fault: string, codes: string[], plant: () => unknown) => {
    it(`reports ${codes.join(", ")} for ${fault}`, async () => {
      const changes = ((await plant()) ?? {}) as Partial<AuditOptions>;
      const report = await world.audit(changes);
      expect(outcomeOf(report)).to.deep.equal({ verdict: "damage", codes: codes.toSorted() });
      for (const { code } of report.findings.list) covered.add(code);
    });
  };

  describe("without a fault", () => {
    it("passes with files from an HTTP host or a folder, and with a storage proof", async () => {
      for (const changes of [{}, inFolder(), await pinned(), { workers: 2 }]) {
        const report = await world.audit(changes);
        expect(outcomeOf(report)).to.deep.equal({ verdict: "passed", codes: [] });
        expect(report).to.include({ userCount: 5, rootCount: 2, usersInFiles: 5 });
      }
    });

    it("passes for an empty registry", async () => {
      const contract = (await world.fresh.deploy(world.fresh.owner)).toLowerCase();
      expect(outcomeOf(await world.audit({ contract }))).to.deep.equal({ verdict: "passed", codes: [] });
    });

    it("passes for a file whose root was added in several transactions", async () => {
      const root = await world.store(spare.map(serializeKeyRecord));
      for (const { userID } of spare) await world.add(root, [userID]);
      expect(outcomeOf(await world.audit())).to.deep.equal({ verdict: "passed", codes: [] });
    });

    it("passes at an earlier block with fewer users", async () => {
      const earlier = await world.head();
      await world.publish(spare);
      const report = await world.audit({ at: { blockHash: earlier }, storageProof: true });
      expect(outcomeOf(report)).to.deep.equal({ verdict: "passed", codes: [] });
      expect(report.userCount).to.equal(5);
    });

    it("passes with a node that limits the block range of a request", async () => {
      world.lie((method, params, truth) => {
        const [filter] = params as [{ fromBlock: string; toBlock: string }?];
        if (method === "eth_getLogs" && filter?.fromBlock !== filter?.toBlock) throw new Error("range too wide");
        return truth(method, params);
      });
      expect(outcomeOf(await world.audit())).to.deep.equal({ verdict: "passed", codes: [] });
    });

    it("ignores proofs, bundles and unfinished files beside the Merkle-tree files", async () => {
      await mkdir(world.pathOf(firstRoot));
      await writeFile(world.pathOf(`.${OTHER_ROOT}.json.draft`), "");
      expect(outcomeOf(await world.audit(inFolder()))).to.deep.equal({ verdict: "passed", codes: [] });
    });

    it("reports a stored file as a notice until its root is published", async () => {
      const root = await world.store(spare.map(serializeKeyRecord));
      for (const changes of [{}, { workers: 2 }]) {
        const report = await world.audit({ ...inFolder(), ...changes });
        expect(outcomeOf(report)).to.deep.equal({ verdict: "passed", codes: ["FILE_PENDING"] });
        expect(report.findings.list[0]).to.include({ severity: "notice", root });
        expect(report.usersInFiles).to.equal(5);
      }
      covered.add("FILE_PENDING");
      const before = await world.head();
      await world.add(root, ids(spare));
      expect(outcomeOf(await world.audit(inFolder()))).to.deep.equal({ verdict: "passed", codes: [] });
      // At the block before the event, the file is still about to be published.
      const atEarlierBlock = await world.audit({ ...inFolder(), at: { blockHash: before } });
      expect(outcomeOf(atEarlierBlock)).to.deep.equal({ verdict: "passed", codes: ["FILE_PENDING"] });
    });

    it("reports a superseded user as a notice", async () => {
      await world.publish([...first, ...spare]);
      const report = await world.audit();
      const codes = new Array<string>(first.length).fill("USER_SUPERSEDED");
      expect(outcomeOf(report)).to.deep.equal({ verdict: "passed", codes });
      covered.add("USER_SUPERSEDED");
    });
  });

  describe("with false events from the endpoint", () => {
    finds("a withheld event", ["LOG_WITHHELD"], () => {
      world.lie(lieOfLogs((logs) => logs.slice(1)));
    });
    finds("an empty list of events", ["LOG_WITHHELD"], () => {
      world.lie(lieOfLogs(() => []));
    });
    finds("the withheld second event of a root with two events", ["LOG_WITHHELD", "ADDED_COUNT_TOO_LOW"], async () => {
      const root = await world.store(spare.map(serializeKeyRecord));
      await world.add(root, ids(spare.slice(0, 1)));
      await world.add(root, ids(spare.slice(1)));
      world.lie(lieOfLogs((logs) => logs.slice(0, -1)));
    });
    finds(
      "the withheld first event of a root with two events",
      ["LOG_WITHHELD", "ADDED_COUNT_TOO_LOW", "BLOCK_NUMBER_MISMATCH"],
      async () => {
        const root = await world.store(spare.map(serializeKeyRecord));
        await world.add(root, ids(spare.slice(0, 1)));
        await world.add(root, ids(spare.slice(1)));
        world.lie(lieOfLogs((logs) => logs.toSpliced(2, 1)));
      },
    );
    finds("a withheld event and a lowered user count, with a storage proof", ["LOG_WITHHELD"], async () => {
      hideFirstLog();
      return pinned();
    });
    finds("an event with too few users", ["LOG_WITHHELD", "ADDED_COUNT_TOO_LOW"], () => {
      world.lie(changeLog(0, { data: word(2) }));
    });
    finds("an event with too many users", ["LOG_EXCESS", "USER_HIDDEN"], () => {
      world.lie(changeLog(0, { data: word(4) }));
    });
    finds("a withheld event whose users are counted in another event", ["USER_HIDDEN"], () => {
      world.lie(lieOfLogs(([log]) => [{ ...log, data: word(5) }]));
    });
    finds("two events with exchanged numbers of users", ["USER_HIDDEN", "ADDED_COUNT_TOO_LOW"], () => {
      world.lie(lieOfLogs((logs) => logs.map((log, i) => ({ ...log, data: word(2 + i) }))));
    });
    finds("an event of a root that does not exist", ["LOG_EXCESS", "BLOCK_NUMBER_MISMATCH", "FILE_MISSING"], () => {
      world.lie(
        lieOfLogs(([log = never(), ...logs]) => [
          log,
          { ...log, topics: [log.topics[0] ?? "", `0x${OTHER_ROOT}`], logIndex: "0x7" },
          ...logs,
        ]),
      );
    });
    finds("an event that was moved to another block of the chain", ["BLOCK_NUMBER_MISMATCH"], () => {
      world.lie(
        lieOfLogs(([log = never(), other = never()]) => [
          { ...log, blockNumber: other.blockNumber, blockHash: other.blockHash, logIndex: "0x7" },
          other,
        ]),
      );
    });
    finds("an event in a block that is not on the chain", ["LOG_NOT_CANONICAL"], () => {
      world.lie(changeLog(1, { blockHash: `0x${OTHER_ROOT}` }));
    });
    finds("a user with a root that no event contains", ["ROOT_UNKNOWN", "USER_HIDDEN"], () => {
      world.lie(async (method, params, truth) => {
        const answer = await truth(method, params);
        // The response contains one root for three consecutive users. The first user gets a different root.
        const others = `0001${OTHER_ROOT}0002${firstRoot}`;
        return readsRoots(method, params) ? String(answer).replace(`0003${firstRoot}`, others) : answer;
      });
    });
  });

  describe("with faults of the operator", () => {
    finds("a user who has a published root but is not in its file", ["USER_HIDDEN"], async () => {
      await world.add(firstRoot, [newcomer.userID]);
    });
    finds("a root that has users but no file", ["FILE_MISSING"], async () => {
      await world.add(OTHER_ROOT, ids(spare));
    });
    finds("a user in a file who was never added to the registry", ["USER_NOT_PUBLISHED"], async () => {
      const root = await world.store(spare.map(serializeKeyRecord));
      await world.add(root, ids(spare.slice(1)));
    });
    finds("a user who is only in the file of another root", ["USER_HIDDEN", "USER_NOT_IN_FILE"], async () => {
      await world.add(firstRoot, [newcomer.userID]);
      await world.publish(spare);
    });
    finds("a user in two files with different keys", ["USER_TWO_KEYS", "USER_SUPERSEDED"], async () => {
      await world.publish([{ ...two, userID: one.userID }, ...spare]);
    });
    finds("a key that is not on the curve", ["KEY_INVALID PUBLIC_KEY_NOT_ON_CURVE"], async () => {
      const key = Buffer.from(newcomer.pubKey, "base64");
      key[104] = (key[104] ?? 0) ^ 1;
      await world.publish([{ ...newcomer, pubKey: inBase64(key) }]);
    });
    finds("a key with a coordinate that is not below the prime", ["KEY_INVALID PUBLIC_KEY_FORMAT"], async () => {
      const key = Buffer.from(newcomer.pubKey, "base64").fill(0xff, 1, 53);
      await world.publish([{ ...newcomer, pubKey: inBase64(key) }]);
    });
    finds("a key of small order", ["KEY_INVALID PUBLIC_KEY_SMALL_ORDER"], async () => {
      const [identity = never()] = pointsOfSmallOrder();
      await world.publish([{ ...newcomer, pubKey: inBase64(encode(identity)) }]);
    });
    finds("a record with the key id of another key", ["KEY_INVALID KEY_ID_MISMATCH"], async () => {
      await world.publish([{ ...newcomer, keyID: one.keyID === newcomer.keyID ? two.keyID : one.keyID }]);
    });
    finds(
      "a user in two files, once with a key that is not on the curve",
      ["KEY_INVALID PUBLIC_KEY_NOT_ON_CURVE", "USER_TWO_KEYS", "USER_SUPERSEDED"],
      async () => {
        const key = Buffer.from(newcomer.pubKey, "base64");
        key[104] = (key[104] ?? 0) ^ 1;
        await world.publish([newcomer]);
        await world.publish([...spare.slice(1), { ...newcomer, pubKey: inBase64(key) }]);
      },
    );

    for (const [fault, detail, values] of [
      [
        "a file that contains a user twice",
        "DUPLICATE_USER",
        [one, { ...two, userID: one.userID }].map(serializeKeyRecord),
      ],
      ["a file with a duplicate last value", "DUPLICATE_VALUE", [one, two, two].map(serializeKeyRecord)],
      ["a value that is not a record", "RECORD_INVALID", ["{}"]],
      ["a value with a fourth field", "RECORD_INVALID", [serializeKeyRecord(one).replace("{", '{"a":"b",')]],
      ["a key that is too short", "PUBLIC_KEY_LENGTH", [serializeKeyRecord({ ...one, pubKey: "BAAA" })]],
      ["a value that looks like a node", "VALUE_LOOKS_LIKE_NODE", ["ab".repeat(64)]],
      [
        "a user id in upper case",
        "USER_ID_INVALID",
        [serializeKeyRecord({ ...one, userID: one.userID.toUpperCase() })],
      ],
    ] as const) {
      finds(fault, [`FILE_INVALID ${detail}`], async () => {
        const root = await world.store(values);
        await world.add(root, [newcomer.userID]);
      });
    }
  });

  describe("with faulty files", () => {
    finds("a file that is missing from the host", ["FILE_MISSING"], () => rm(world.pathOf(`${firstRoot}.json`)));
    finds("a file that is missing from the folder", ["FILE_MISSING"], async () => {
      await rm(world.pathOf(`${firstRoot}.json`));
      return inFolder();
    });
    finds("a file with a changed key", ["FILE_INVALID ROOT_MISMATCH"], () =>
      tamper((text) => text.replace(one.pubKey, two.pubKey)),
    );
    finds("a file without one of its users", ["FILE_INVALID ROOT_MISMATCH"], () =>
      world.store(first.slice(1).map(serializeKeyRecord)).then(async (root) => {
        await world.writeText(firstRoot, await world.readText(root));
      }),
    );
    finds("a file that was replaced by another root's file", ["FILE_INVALID ROOT_MISMATCH"], async () =>
      world.writeText(firstRoot, await world.readText(secondRoot)),
    );
    finds("a lookup entry that points at another user", ["FILE_INVALID LOOKUP_MISMATCH"], () =>
      tamper((text) => text.replace(`"${one.userID}":0`, `"${one.userID}":1`)),
    );
    finds("a changed node of the tree", ["FILE_INVALID TREE_MISMATCH"], () =>
      tamper((text) => text.replace('"level":1', '"level":2')),
    );
    finds("a JSON object with a duplicate key", ["FILE_INVALID JSON_DUPLICATE_KEY"], () =>
      tamper((text) => text.replace('"hashalgo"', '"hashalgo":"md5","hashalgo"')),
    );
    finds("a file with another hash algorithm", ["FILE_INVALID FILE_HASH_ALGORITHM"], () =>
      tamper((text) => text.replace('"sha256"', '"md5"')),
    );
    finds("a file with an unknown fourth key", ["FILE_INVALID FILE_UNKNOWN_KEY"], () =>
      tamper((text) => text.replace("{", '{"more":{},')),
    );
    finds("a truncated file", ["FILE_INVALID JSON_INVALID"], () => tamper((text) => text.slice(0, text.length / 2)));
    finds("an empty file", ["FILE_INVALID JSON_INVALID"], () => tamper(() => ""));
    finds("a file that is not UTF-8", ["FILE_INVALID FILE_NOT_UTF8"], () =>
      tamper((text) => Buffer.concat([Buffer.from(text), Uint8Array.of(0xff)])),
    );
    finds("a stray file whose users have another root", ["FILE_STRAY"], async () => {
      await world.store(second.slice(1).map(serializeKeyRecord));
      return inFolder();
    });
    finds("a stray file in which only one user has a root", ["FILE_STRAY"], async () => {
      await world.store([...second.slice(1), ...spare].map(serializeKeyRecord));
      return inFolder();
    });
    finds("a stray file that does not match the root in its name", ["FILE_STRAY ROOT_MISMATCH"], async () => {
      const root = await world.store(spare.map(serializeKeyRecord));
      await rename(world.pathOf(`${root}.json`), world.pathOf(`${OTHER_ROOT}.json`));
      return inFolder();
    });
    finds("a stray file with a false key id", ["FILE_STRAY KEY_ID_MISMATCH"], async () => {
      const keyID = one.keyID === newcomer.keyID ? two.keyID : one.keyID;
      await world.store([serializeKeyRecord({ ...newcomer, keyID })]);
      return inFolder();
    });
    finds("a stray file that is too large to read", ["FILE_STRAY"], async () => {
      const root = await world.store(spare.map(serializeKeyRecord));
      const text = await world.readText(root);
      await world.writeText(root, text.padEnd(100_000));
      return { files: { dir: world.fresh.filesDir, ...LIMITS, maxBytes: 50_000 } };
    });
    finds("a folder of proofs for a pending file", ["FILE_PENDING", "FILE_STRAY"], async () => {
      const root = await world.store(spare.map(serializeKeyRecord));
      await mkdir(world.pathOf(root));
      return inFolder();
    });
    finds("a stray folder of proofs", ["FILE_STRAY"], async () => {
      await mkdir(world.pathOf(OTHER_ROOT));
      return inFolder();
    });
    finds("a file whose name is not a root", ["FILE_STRAY"], async () => {
      await writeFile(world.pathOf(`${firstRoot}.json.bak`), "");
      return inFolder();
    });
    finds("a missing file and a changed file", ["FILE_MISSING", "FILE_INVALID ROOT_MISMATCH"], async () => {
      await tamper((text) => text.replace(one.pubKey, two.pubKey));
      await rm(world.pathOf(`${secondRoot}.json`));
    });
  });

  describe("with an unavailable file or endpoint", () => {
    const hostOf = async (handler: Parameters<typeof serve>[0]): Promise<Partial<AuditOptions>> => {
      const { url } = closing(await serve(handler));
      return { files: { merkleUrl: url, ...LIMITS } };
    };
    const hosts: [string, string, () => Partial<AuditOptions> | Promise<Partial<AuditOptions>>][] = [
      [
        "a truncated download",
        "UNREACHABLE",
        () =>
          hostOf((_, response) => {
            response.writeHead(200, { "Content-Length": 1000 }).write("{");
            setTimeout(() => response.destroy(), 20);
          }),
      ],
      ["a host that is not running", "UNREACHABLE", async () => ({ files: { merkleUrl: await goneUrl(), ...LIMITS } })],
      [
        "a host that returns the status 503",
        "FILE_HOST_ERROR",
        () => hostOf((_, response) => response.writeHead(503).end()),
      ],
      [
        "a host that redirects",
        "REDIRECT_REFUSED",
        () => hostOf((_, response) => response.writeHead(302, { Location: "/" }).end()),
      ],
      [
        "a file above the size limit",
        "ANSWER_TOO_LARGE",
        () => ({
          files: { merkleUrl: world.fresh.merkleUrl, ...LIMITS, maxBytes: 100 },
        }),
      ],
      [
        "a file above the size limit in the folder",
        "ANSWER_TOO_LARGE",
        () => ({
          files: { dir: world.fresh.filesDir, ...LIMITS, maxBytes: 100 },
        }),
      ],
    ];
    for (const [fault, code, host] of hosts) {
      it(`reports ${code} for ${fault}`, async () => {
        const report = await world.audit(await host());
        expect(outcomeOf(report)).to.deep.equal({ verdict: "incomplete", codes: [code, code] });
      });
    }

    it("reports damage if one file is invalid and another is unavailable", async () => {
      await tamper(() => "{}");
      const { files } = await world.hostFiles((path) => !path.includes(secondRoot));
      const codes = ["FILE_HOST_ERROR", "FILE_INVALID FILE_SHAPE"];
      expect(outcomeOf(await world.audit({ files }))).to.deep.equal({ verdict: "damage", codes });
    });

    for (const [what, make] of [
      ["a pipe", (path: string) => promisify(execFile)("mkfifo", [path])],
      ["a link to an endless device", (path: string) => symlink("/dev/zero", path)],
    ] as const) {
      it(`reports FILE_UNREADABLE for ${what} in place of a file`, async function () {
        // Skipped on Windows, which has neither of these kinds of files.
        if (process.platform === "win32") this.skip();
        const path = world.pathOf(`${secondRoot}.json`);
        await rm(path);
        await make(path);
        const report = await world.audit(inFolder());
        expect(outcomeOf(report)).to.deep.equal({ verdict: "incomplete", codes: ["FILE_UNREADABLE"] });
        expect(report.unavailableFiles[0]?.message).to.match(/is not a regular file\.$/);
      });
    }

    it("reports FILE_UNREADABLE for a missing folder", async () => {
      const files = { dir: world.pathOf("none"), ...LIMITS };
      expect(await failure(world.audit({ files }))).to.include({ code: "FILE_UNREADABLE" });
    });

    const logs: [string, Lie][] = [
      ["a duplicate log", lieOfLogs((logs) => [...logs, ...logs])],
      ["a log of another contract", changeLog(0, { address: `0x${"12".repeat(20)}` })],
      ["a log of another event", changeLog(0, (log) => ({ topics: [`0x${OTHER_ROOT}`, log.topics[1] ?? ""] }))],
      ["a log with one topic too many", changeLog(0, (log) => ({ topics: [...log.topics, `0x${OTHER_ROOT}`] }))],
      ["a removed log", changeLog(0, { removed: true })],
      ["a log from a block outside the requested range", changeLog(0, { blockNumber: "0xffffff" })],
      ["a log that adds no users", changeLog(0, { data: word(0) })],
      ["a log that adds more users than a number can hold", changeLog(0, { data: `0x${"f".repeat(64)}` })],
      [
        "two blocks with the same number",
        lieOfLogs(([log = never()]) => [log, { ...log, logIndex: "0x7", blockHash: `0x${OTHER_ROOT}` }]),
      ],
      ["a log that is null", lieOfLogs(() => [null])],
      ["a response that is not a list of logs", lieOfLogs(() => "0x")],
    ];
    for (const [fault, lie] of logs) {
      it(`reports RPC_ANSWER_INVALID for ${fault}`, async () => {
        world.lie(lie);
        expect(await failure(world.audit())).to.include({ name: "TransportError", code: "RPC_ANSWER_INVALID" });
      });
    }

    it("reports RPC_ERROR if the endpoint stops responding during the audit", async () => {
      world.lie(lieAt("eth_getLogs", () => Promise.reject(new Error())));
      expect(await failure(world.audit())).to.include({ name: "TransportError", code: "RPC_ERROR" });
    });
  });

  describe("with a false chain, contract or proof", () => {
    const refuses = (what: string, code: string, ask: () => Partial<AuditOptions> | Promise<Partial<AuditOptions>>) => {
      it(`reports ${code} for ${what}`, async () => {
        expect(await failure(world.audit(await ask()))).to.include({ name: "VerificationError", code });
      });
    };
    refuses("an address without a contract", "NO_CONTRACT", () => ({ contract: `0x${"12".repeat(20)}` }));
    for (const storageProof of [false, true]) {
      refuses(
        `a contract without userCount(), ${storageProof ? "with" : "without"} a storage proof`,
        "NO_USER_COUNT",
        async () => {
          const { call, contract } = world.fresh;
          const code = String(await call("eth_getCode", [contract, "latest"]));
          await call("hardhat_setCode", [contract, code.replaceAll("07973ccf", "07973cce")]);
          return { storageProof };
        },
      );
    }
    refuses("a contract with different code", "CODE_HASH_MISMATCH", () => ({ codeHash: `0x${OTHER_ROOT}` }));
    refuses("a contract with different code, with a storage proof", "CODE_HASH_MISMATCH", async () => ({
      ...(await pinned()),
      codeHash: `0x${OTHER_ROOT}`,
    }));
    refuses("an endpoint of another chain", "CHAIN_ID_MISMATCH", () => ({ chainId: 1 }));
    refuses("the header of a block other than the pinned block", "HEADER_MISMATCH", async () => {
      const genesis = await world.fresh.call("eth_getBlockByNumber", ["0x0", false]);
      world.lie((method, params, truth) => (method === "eth_getBlockByHash" ? genesis : truth(method, params)));
      return pinned();
    });
    refuses("a proof of another slot", "PROOF_INVALID", async () => {
      world.lie((method, params, truth) =>
        truth(method, method === "eth_getProof" ? params.with(1, [word(0)]) : params),
      );
      return pinned();
    });
  });

  describe("without a storage proof", () => {
    it("does not find a withheld event if the endpoint also lowers the user count", async () => {
      hideFirstLog();
      expect(outcomeOf(await world.audit())).to.deep.equal({ verdict: "passed", codes: [] });
    });
  });

  describe("with an endpoint that hides a published root", () => {
    /** Makes the endpoint hide the first root: its event, its users, and their roots. */
    const denyFirstRoot = () => {
      world.lie(async (method, params, truth) => {
        if (JSON.stringify(params).includes("0x07973ccf")) return word(2);
        if (method === "eth_getLogs") return ((await truth(method, params)) as Log[]).slice(1);
        const answer = await truth(method, params);
        return readsRoots(method, params) ? String(answer).replaceAll(firstRoot, "0".repeat(64)) : answer;
      });
    };

    it("reports the root's file as pending without a storage proof", async () => {
      denyFirstRoot();
      const report = await world.audit(inFolder());
      expect(outcomeOf(report)).to.deep.equal({ verdict: "passed", codes: ["FILE_PENDING"] });
    });

    it("reports the withheld event, and the root's file, with storage proofs", async () => {
      denyFirstRoot();
      const report = await world.audit({ ...inFolder(), ...(await pinned()) });
      expect(outcomeOf(report)).to.deep.equal({ verdict: "damage", codes: ["FILE_STRAY", "LOG_WITHHELD"] });
    });
  });

  describe("in all tests of this file", () => {
    it("reports every finding code except those of resumed audits, accounts, statements and watches", () => {
      const others = Object.values(FINDING_CODES)
        .flat()
        .filter((code) => !covered.has(code));
      expect(others).to.deep.equal([
        "ROOT_REORGANIZED",
        "CURSOR_ABOVE_HEAD",
        "SLOT_UNAUTHORIZED",
        "ACCOUNT_FILE_INVALID",
        "STATEMENT_CONFLICT",
        "WATCHED_KEY_MISMATCH",
        "WATCHED_ROOT_CHANGED",
        "FILE_UNAVAILABLE",
        "ENDPOINT_UNAVAILABLE",
        "WATCH_ENDED",
        "CHAIN_REORGANIZED",
      ]);
    });
  });
});
