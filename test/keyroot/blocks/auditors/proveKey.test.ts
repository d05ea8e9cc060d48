import { expect } from "chai";
import type { ServerResponse } from "node:http";
import "keyroot/auditors";
import {
  ANY_KEY,
  createVerifier,
  type KeyRecord,
  KeyrootError,
  type MerkleFile,
  type VerifiedKey,
  type VerifierOptions,
  verifyMany,
} from "keyroot";
import { type RootEntry, RootProofs } from "keyroot/auditors/protocol";
import { makeLeafChunks } from "keyroot/merkle";
import type { Listening } from "@keyroot/operator/shared";
import { statementHosts, statementText, treeOf } from "../../../support/auditors/statementHost.ts";
import { signedBy, TestAuditor, testAuditors } from "../../../support/auditors/testAuditor.ts";
import {
  type BlockJson,
  describeOnChains,
  forged,
  late,
  mine,
  other,
  published,
  publishedLater,
  userID,
} from "../../../support/chain/fiveEndpoints.ts";
import { serve } from "../../../support/servers/servers.ts";
import { refusalOf } from "../../../support/refusalOf.ts";
import { sampleRecords } from "../../../support/samples.ts";
import { failure, never } from "../../../support/support.ts";
import { ENDLESS_MS } from "../../../support/endless.ts";

const auditors = testAuditors("alice", "bob");
const GET_USER_INFO = "0x829a34c6";

describeOnChains("verifier with the auditors and proofs options", (chain) => {
  const hosts = statementHosts(2);
  let files: Listening;
  /** Paths of the requests to the file host. */
  let asked: string[] = [];
  /** Responds to requests for leaf chunks in place of the file host. */
  let serveChunk: ((response: ServerResponse, path: string) => unknown) | undefined;
  before(async () => {
    files = await serve((request, response) => {
      const path = request.url ?? "";
      asked.push(path);
      if (serveChunk !== undefined && path.endsWith(".bin")) {
        serveChunk(response, path);
        return;
      }
      void fetch(chain.files.url + path).then(async (answer) => {
        response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()));
      });
    });
  });
  after(() => files.close());
  beforeEach(() => {
    asked = [];
    serveChunk = undefined;
    statementOf(entries);
  });

  const time = () => Number(chain.head.timestamp) + 60;
  const entryOf = ({ tree, records }: MerkleFile, superseded = 0): RootEntry => {
    return { root: tree.root, recordCount: records.length, userCount: records.length - superseded };
  };
  const entries = [entryOf(published), entryOf(publishedLater)];
  /** Makes both auditors publish a statement about these roots, and the proofs of the roots. */
  const statementOf = (
    entries: readonly RootEntry[],
    block: BlockJson = chain.head,
    contract = chain.contract,
    signedAt = time(),
  ) => {
    const number = Number(block.number);
    const text = statementText({ chainId: chain.chainId, contract }, block, { tree: treeOf(entries) });
    const proofs = new RootProofs(entries);
    for (const [i, host] of hosts.entries()) {
      host.files.set("latest", signedBy([auditors[i] ?? never()], text, signedAt));
      host.files.set(`${number}-subtrees`, proofs.subtrees());
      for (const [index, { root }] of entries.entries()) host.files.set(`roots/${root}`, proofs.proofOf(index));
    }
  };
  const options = (changes: Partial<VerifierOptions> = {}): VerifierOptions => ({
    ...chain.place(),
    merkleUrl: files.url,
    now: () => time() * 1000,
    auditors: { keys: auditors.map(({ key }) => key), threshold: 2, urls: hosts.map(({ url }) => url) },
    proofs: true,
    ...changes,
  });
  const keyOf = ({ pubKey }: KeyRecord) => ({ expectedPublicKey: pubKey });
  const verify = (record = mine, changes: Partial<VerifierOptions> = {}): Promise<VerifiedKey> =>
    createVerifier(options(changes)).verify(record.userID, keyOf(record));
  /**
   * Expects a verification with the whole file and a storage proof. This evidence is as strong as without the `proofs`
   * option.
   */
  const expectWholeFile = async (record = mine, changes: Partial<VerifierOptions> = {}) => {
    const verified = await verify(record, changes);
    expect(verified.record).to.deep.equal(record);
    expect(verified.evidence).to.include({ anchor: "auditors", storageProof: true, uniqueness: "checked" });
    expect(asked).to.include(`/${verified.root}.json`);
  };

  describe("with valid short proofs", () => {
    it("verifies a key without reading the whole file", async () => {
      const methods: string[] = [];
      chain.letLie((method, params, truth) => {
        methods.push(method);
        return truth(method, params);
      }, 1);
      const verified = await verify();
      expect(verified.record).to.deep.equal(mine);
      expect(verified.root).to.equal(published.tree.root);
      expect(verified.index).to.equal(published.lookup.get(userID));
      expect(verified.blockNumber).to.equal(chain.blockNumber);
      expect(Buffer.from(verified.publicKey).toString("base64")).to.equal(mine.pubKey);
      expect(verified.evidence).to.deep.equal({
        anchor: "auditors",
        storageProof: false,
        auditors: auditors.map(({ key }) => key),
        uniqueness: "auditors",
      });
      expect(asked).to.deep.equal([`/${published.tree.root}/0.bin`]);
      expect(methods).to.deep.equal(["eth_call"]);
    });

    it("uses one statement for all keys until the statement is too old", async () => {
      let ahead = 0;
      const verifier = createVerifier(options({ now: () => (time() + ahead) * 1000 }));
      for (const record of [mine, late, other]) await verifier.verify(record.userID, keyOf(record));
      const before = hosts.map(({ requests }) => requests);
      expect((await verifier.verify(userID, keyOf(mine))).evidence.uniqueness).to.equal("auditors");
      expect(hosts.map(({ requests }) => requests)).to.deep.equal(before);
      ahead = 86_401;
      expect(await failure(verifier.verify(userID, keyOf(mine)))).to.have.property("code", "STATEMENT_TOO_OLD");
      // The auditors sign the same statement again.
      statementOf(entries, chain.head, chain.contract, time() + ahead);
      for (const isAsked of [true, false]) {
        for (const host of hosts) host.requests = 0;
        expect((await verifier.verify(userID, keyOf(mine))).evidence.uniqueness).to.equal("auditors");
        expect(hosts.every(({ requests }) => requests > 0)).to.equal(isAsked);
      }
    });

    it("uses a stored statement of the same auditors", async () => {
      const store = new Map<string, string>();
      const auditorsWith = (changes: object) => ({ auditors: { ...options().auditors, store, ...changes } });
      await verify(mine, auditorsWith({}));
      for (const host of hosts) host.files.delete("latest");
      expect((await verify(other, auditorsWith({}))).evidence.uniqueness).to.equal("auditors");
      const [, bob] = auditors;
      const mallory = new TestAuditor("mallory.example");
      for (const keys of [
        [bob.key, mallory.key],
        [mallory.key, new TestAuditor("eve.example").key],
      ])
        expect(await failure(verify(other, auditorsWith({ keys })))).to.have.property("code", "AUDITORS_NOT_REACHED");
      for (const [name] of store) store.set(name, "{");
      expect(await failure(verify(other, auditorsWith({})))).to.have.property("code", "AUDITORS_NOT_REACHED");
    });

    it("requests a newer statement that includes the user's root", async () => {
      statementOf([entryOf(published)], chain.earlier);
      const verifier = createVerifier(options());
      await verifier.verify(userID, keyOf(mine));
      statementOf(entries);
      const { evidence } = await verifier.verify(late.userID, keyOf(late));
      expect(evidence.uniqueness).to.equal("auditors");
    });

    it("verifies all contacts with short proofs", async () => {
      const cache = new Map<string, string>();
      const contacts = [mine, other, late].map((record) => ({ userID: record.userID, ...keyOf(record) }));
      const uniquenessIn = async (changes: object) => {
        const outcomes = await verifyMany(contacts, { ...options(), cache, ...changes });
        return outcomes.map((outcome) =>
          "verified" in outcome ? outcome.verified.evidence.uniqueness : outcome.error,
        );
      };
      expect(await uniquenessIn({})).to.deep.equal(["auditors", "auditors", "auditors"]);
      expect(asked).to.have.lengthOf(2);
      asked = [];
      expect(await uniquenessIn({})).to.deep.equal(["auditors", "auditors", "auditors"]);
      expect(asked).to.deep.equal([]);
      expect(await uniquenessIn({ proofs: false })).to.deep.equal(["checked", "checked", "checked"]);
    });

    it("ignores missing and false proofs in the first auditor's folder", async () => {
      const [first = never()] = hosts;
      for (const name of [...first.files.keys()]) {
        const good = first.files.get(name) ?? never();
        if (name === "latest") continue;
        for (const bad of [undefined, "", "AAAA\n", "x".repeat(2 ** 16)]) {
          if (bad === undefined) first.files.delete(name);
          else first.files.set(name, bad);
          expect((await verify()).evidence.uniqueness).to.equal("auditors");
        }
        first.files.set(name, good);
      }
    });
  });

  describe("without valid short proofs", () => {
    const chunkOf = (file: MerkleFile) => [...makeLeafChunks(file)][0]?.bytes ?? never();

    it("reads the whole file for an unknown key", async () => {
      const { evidence } = await createVerifier(options()).verify(userID, { expectedPublicKey: ANY_KEY });
      expect(evidence).to.include({ storageProof: true, uniqueness: "checked" });
    });

    it("reads the whole file if its users have an older root", async () => {
      statementOf([entryOf(published, 1), entryOf(publishedLater)]);
      await expectWholeFile();
      expect(asked).to.not.include(`/${published.tree.root}/0.bin`);
    });

    it("reads the whole file if the root's proof is missing", async () => {
      statementOf([entryOf(publishedLater)]);
      for (const host of hosts) host.files.delete(`roots/${published.tree.root}`);
      await expectWholeFile();
      statementOf(entries);
      for (const host of hosts) host.files.delete(`${Number(chain.head.number)}-subtrees`);
      await expectWholeFile();
    });

    const answers: Record<string, (response: ServerResponse) => unknown> = {
      "is missing": (response) => response.writeHead(404).end(),
      "is empty": (response) => response.end(),
      "belongs to another root": (response) => response.end(chunkOf(forged)),
      "is damaged": (response) => response.end(chunkOf(published).map((byte, i) => (i === 20 ? byte ^ 1 : byte))),
      "lacks the user's leaf": (response) => response.end(chunkOf(publishedLater)),
      "is larger than the limit": (response) => response.end(Buffer.alloc(2 ** 16 + 8)),
      "is behind a redirect": (response) =>
        response.writeHead(302, { location: `${chain.files.url}/${published.tree.root}/0.bin` }).end(),
      "ends early": (response) => {
        response.writeHead(200, { "content-length": 72 }).write("half");
        setTimeout(() => response.destroy(), 20);
      },
      "never ends": (response) => {
        const timer = setInterval(() => response.write(Buffer.alloc(8)), 5);
        response.on("close", () => {
          clearInterval(timer);
        });
      },
    };
    for (const [defect, answer] of Object.entries(answers)) {
      it(`reads the whole file if the leaf chunk ${defect}`, async () => {
        serveChunk = answer;
        // Only an endless response reaches the time limit.
        const limits = defect === "never ends" ? { timeoutMs: 5000 } : { timeoutMs: ENDLESS_MS };
        await expectWholeFile(mine, { limits });
      });
    }

    it("reads the whole file if the endpoint returns a wrong or malformed root", async () => {
      const word = (text: string) => text.padStart(64, "0");
      for (const answer of [
        `0x${forged.tree.root}${word("1")}`,
        `0x${publishedLater.tree.root}${word("1")}`,
        `0x${word("")}${word("1")}`,
        `0x${published.tree.root}`,
        `0x${published.tree.root}${word("ffffffff")}`,
        "0x",
        null,
      ]) {
        asked = [];
        chain.letLie(
          (method, params, truth) => (JSON.stringify(params).includes(GET_USER_INFO) ? answer : truth(method, params)),
          1,
        );
        await expectWholeFile();
      }
    });
  });

  describe("with invalid input", () => {
    it("rejects a key that the server swapped", async () => {
      const swapped = { ...other, userID };
      expect(await failure(verify(swapped))).to.have.property("code", "KEY_MISMATCH");
      // The forged file's leaf chunk proves the swapped key. The statement does not include the forged file's root.
      serveChunk = (response) => response.end([...makeLeafChunks(forged)][0]?.bytes);
      const info = `0x${forged.tree.root}${"1".padStart(64, "0")}`;
      chain.letLie(
        (method, params, truth) => (JSON.stringify(params).includes(GET_USER_INFO) ? info : truth(method, params)),
        1,
      );
      const proofs = new RootProofs([entryOf(forged)]);
      for (const host of hosts) host.files.set(`roots/${forged.tree.root}`, proofs.proofOf(0));
      expect(await failure(verify(swapped))).to.have.property("code", "KEY_MISMATCH");
    });

    it("rejects a statement that too few auditors signed", async () => {
      statementOf(entries, chain.head, `0x${"5".repeat(40)}`);
      expect(await failure(verify())).to.have.property("code", "AUDITORS_NOT_REACHED");
      statementOf(entries);
      hosts[1]?.files.delete("latest");
      expect(await failure(verify())).to.have.property("code", "AUDITORS_NOT_REACHED");
    });

    it("throws NOT_PUBLISHED with a storage proof as evidence", async () => {
      const [stranger = never()] = sampleRecords(1, 77);
      const error = await failure(verify(stranger));
      expect(error).to.be.an.instanceof(KeyrootError).with.property("code", "NOT_PUBLISHED");
      expect(error).to.have.nested.property("evidence.storageProof", true);
    });

    it("rejects options that contradict short proofs", () => {
      const changes: Partial<VerifierOptions>[] = [
        { storageProof: true },
        { codeHash: chain.codeHash },
        { maxAgeMs: 60_000 },
        { auditors: undefined },
        { proofs: "yes" as never },
      ];
      for (const change of changes)
        expect(refusalOf(createVerifier, options(change)), JSON.stringify(change)).to.equal("ARGUMENT_INVALID");
    });
  });

  it("throws ABORTED if the signal aborts while it reads a leaf chunk", async () => {
    const abort = new AbortController();
    serveChunk = () => {
      abort.abort();
    };
    const verifying = createVerifier(options()).verify(userID, { ...keyOf(mine), signal: abort.signal });
    expect(await failure(verifying)).to.have.property("code", "ABORTED");
    expect(asked.filter((path) => path.endsWith(".json"))).to.deep.equal([]);
  });
});
