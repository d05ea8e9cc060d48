import { expect } from "chai";
import { ANY_KEY, KeyrootError, oneEndpoint } from "keyroot";
import { makeBundle, verifyBundle } from "keyroot/bundle";
import { auditors as trustIn, type AuditorsOptions, type Statement } from "keyroot/auditors";
import { statementHosts, statementText } from "../../../support/auditors/statementHost.ts";
import { signedBy, type TestAuditor, testAuditors } from "../../../support/auditors/testAuditor.ts";
import {
  type BlockJson,
  describeOnChains,
  forged,
  late,
  lieAboutBlock,
  lieAboutContract,
  mine,
  userID,
} from "../../../support/chain/fiveEndpoints.ts";
import { sampleUserID } from "../../../support/samples.ts";
import { failure } from "../../../support/support.ts";
import { type TestOptions, verifierAt, verifyListOnce } from "../../../support/verifier/verifyOnce.ts";

const auditors = testAuditors("alice", "bob", "carol");
const [alice, bob, carol] = auditors;

describeOnChains("verifier that trusts auditors", (chain) => {
  const hosts = statementHosts(3);

  const time = () => Number(chain.head.timestamp) + 60;
  const textFor = (block: BlockJson, changes?: Partial<Statement>) => statementText(chain, block, changes);
  const options = (changes: Partial<AuditorsOptions> = {}): TestOptions => ({
    ...chain.place(),
    now: () => time() * 1000,
    trust: trustIn({
      keys: auditors.map(({ key }) => key),
      threshold: 2,
      urls: hosts.map(({ url }) => url),
      ...changes,
    }),
  });
  /** Makes each auditor publish its own file with this text. */
  const publish = (text: string, by: readonly TestAuditor[] = auditors) => {
    for (const [i, auditor] of by.entries()) hosts[i]?.files.set("latest", signedBy([auditor], text));
  };
  const codeOf = async (changes: object = {}, user = mine.userID): Promise<string> => {
    try {
      const { record } = await verifierAt(options(changes)).verify(user, { expectedPublicKey: ANY_KEY });
      return record.pubKey === mine.pubKey || user !== mine.userID ? "truth" : "lie";
    } catch (error) {
      if (error instanceof KeyrootError) return error.code;
      throw error;
    }
  };

  describe("with signed statements", () => {
    it("verifies a key at the block that two of three auditors signed", async () => {
      publish(textFor(chain.head), [alice, bob]);
      const { record, evidence } = await verifierAt(options()).verify(userID, { expectedPublicKey: ANY_KEY });
      const { hash, number, timestamp } = chain.head;
      expect(record).to.deep.equal(mine);
      expect(evidence).to.deep.equal({
        source: "auditors",
        details: { auditors: [alice.key, bob.key] },
        block: { hash, number: Number(number), timestamp: Number(timestamp) },
        storageProof: true,
        uniqueness: "checked",
      });
    });

    it("accepts all signatures from a single host", async () => {
      hosts[2]?.files.set("latest", signedBy([bob, carol], textFor(chain.head)));
      expect(await codeOf()).to.equal("truth");
    });

    it("makes a bundle that others verify, although an auditor also signs twice and for the future", async () => {
      const text = textFor(chain.head);
      const future = textFor(chain.head, {
        block: { number: Number(chain.head.number), hash: chain.head.hash, timestamp: time() + 10 ** 9 },
      });
      hosts[0]?.files.set("latest", signedBy([alice], future));
      hosts[0]?.files.set(String(Number(chain.head.number)), signedBy([alice, alice], text));
      hosts[1]?.files.set("latest", signedBy([alice, bob, alice], text));
      const { rpc, chainId, contract, merkleUrl } = chain.place();
      const { bundle } = await makeBundle(userID, {
        rpc,
        chainId,
        contract,
        merkleUrl,
        trust: options().trust ?? oneEndpoint(),
      });
      const offline = trustIn({ keys: auditors.map(({ key }) => key), threshold: 2 });
      const query = { userID, chainId, contract, expectedPublicKey: mine.pubKey, trust: offline };
      const { evidence } = await verifyBundle(bundle, query);
      expect(evidence.details).to.deep.equal({ auditors: [alice.key, bob.key] });
      // One auditor's two signatures are not two auditors.
      hosts[1]?.files.set("latest", signedBy([alice, alice], text));
      expect(await codeOf()).to.equal("AUDITORS_NOT_REACHED");
    });

    it("relies on the auditors that were given, although the caller changes the list afterwards", async () => {
      publish(textFor(chain.head), [alice, bob]);
      const keys = [alice.key, bob.key];
      const trust = trustIn({ keys, threshold: 2, urls: hosts.map(({ url }) => url) });
      const { rpc, chainId, contract, merkleUrl } = chain.place();
      const { bundle } = await makeBundle(userID, { rpc, chainId, contract, merkleUrl, trust });
      keys.splice(0, 2, carol.key);
      const query = { userID, chainId, contract, expectedPublicKey: mine.pubKey, trust };
      const { evidence } = await verifyBundle(bundle, query);
      expect(evidence.details).to.deep.equal({ auditors: [alice.key, bob.key] });
      const online = verifierAt({ ...options(), trust }).verify(userID, { expectedPublicKey: ANY_KEY });
      expect((await online).record.pubKey).to.equal(mine.pubKey);
    });

    it("uses an older block if only one auditor signed the newest", async () => {
      publish(textFor(chain.earlier), [alice, bob]);
      hosts[0]?.files.set("latest", signedBy([alice], textFor(chain.head)));
      hosts[0]?.files.set(String(Number(chain.earlier.number)), signedBy([alice], textFor(chain.earlier)));
      const { evidence } = await verifierAt(options()).verify(userID, { expectedPublicKey: ANY_KEY });
      expect(evidence.block?.hash).to.equal(chain.earlier.hash);
    });

    it("ignores a host that is unreachable or returns false statements", async () => {
      publish(textFor(chain.head), [alice, bob]);
      expect(await codeOf({ urls: [...hosts.slice(0, 2).map(({ url }) => url), "http://127.0.0.1:9"] })).to.equal(
        "truth",
      );
      const far = textFor(chain.head, { block: { number: 2 ** 50, hash: `0x${"1".repeat(64)}`, timestamp: 1 } });
      const false_ = ["", "x".repeat(2 ** 20), `${textFor(chain.head)}\n— ${carol.name} AAAA\n`];
      for (const file of [...false_, signedBy([carol], far)]) {
        hosts[2]?.files.set("latest", file);
        expect(await codeOf()).to.equal("truth");
      }
    });

    it("searches for statements once for all contacts", async () => {
      publish(textFor(chain.head), [alice, bob]);
      const outcomes = await verifyListOnce(
        [
          { userID, expectedPublicKey: ANY_KEY },
          { userID: late.userID, expectedPublicKey: ANY_KEY },
        ],
        options(),
      );
      expect(outcomes.map((outcome) => "verified" in outcome)).to.deep.equal([true, true]);
      expect(hosts.map(({ requests }) => requests)).to.deep.equal([1, 1, 1]);
    });
  });

  describe("with invalid statements", () => {
    it("rejects a statement with too few signatures", async () => {
      publish(textFor(chain.head), [alice]);
      expect(await codeOf()).to.equal("AUDITORS_NOT_REACHED");
      hosts[1]?.files.set("latest", signedBy([alice], textFor(chain.head)));
      expect(await codeOf()).to.equal("AUDITORS_NOT_REACHED");
    });

    it("rejects statements about two blocks of one height that enough auditors signed", async () => {
      const { number, timestamp } = chain.head;
      const other = statementText(chain, { number, timestamp, hash: `0x${"12".repeat(32)}` });
      hosts[0]?.files.set("latest", signedBy([alice, bob], other));
      hosts[1]?.files.set("latest", signedBy([alice, bob], textFor(chain.head)));
      expect(await codeOf()).to.equal("STATEMENT_CONFLICT");
    });

    it("rejects a statement about a block that is too old or in the future", async () => {
      publish(textFor(chain.head));
      const codeAt = async (ms: number) => {
        const verifier = verifierAt({ ...options(), now: () => time() * 1000 + ms });
        return (await failure(verifier.verify(userID, { expectedPublicKey: ANY_KEY }))) as KeyrootError;
      };
      expect(await codeOf({ maxAgeMs: 60_000 })).to.equal("truth");
      expect(await codeOf({ maxAgeMs: 59_999 })).to.equal("STATEMENT_TOO_OLD");
      expect(await codeAt(86_400_001)).to.include({ code: "STATEMENT_TOO_OLD", step: "anchor" });
      expect(await codeAt(-200_000)).to.include({ code: "FUTURE_BLOCK", step: "anchor" });
    });

    it("rejects a statement about another contract or chain", async () => {
      publish(textFor(chain.head, { chainId: 1 }));
      expect(await codeOf()).to.equal("AUDITORS_NOT_REACHED");
      publish(textFor(chain.head, { contract: `0x${"1".repeat(40)}` }));
      expect(await codeOf()).to.equal("AUDITORS_NOT_REACHED");
    });

    it("rejects a block whose number differs from the statement", async () => {
      publish(
        textFor(chain.head, {
          block: { number: Number(chain.head.number) + 1, hash: chain.head.hash, timestamp: time() },
        }),
      );
      expect(await codeOf()).to.equal("HEADER_MISMATCH");
    });

    it("rejects false blocks and roots from the endpoint", async () => {
      publish(textFor(chain.head));
      const lie = await chain.inventState(`0x${forged.tree.root}`);
      chain.letLie((...call) => lieAboutBlock(lie, ...call), 1);
      expect(await codeOf()).to.equal("HEADER_MISMATCH");
      chain.letLie((...call) => lieAboutContract(lie, ...call), 1);
      expect(await codeOf()).to.equal("PROOF_INVALID");
      const hidden = await chain.inventState(`0x${"0".repeat(64)}`);
      chain.letLie((...call) => lieAboutContract(hidden, ...call), 1);
      expect(await codeOf()).to.equal("PROOF_INVALID");
    });

    it("throws a TransportError if no host responds", async () => {
      const error = await failure(
        verifierAt(options({ urls: ["http://127.0.0.1:9"] })).verify(userID, { expectedPublicKey: ANY_KEY }),
      );
      expect(error).to.include({ name: "TransportError", code: "AUDITORS_NOT_REACHED" });
    });
  });

  describe("for a user without a root", () => {
    it("advises the app to wait if the statement may be older than the user's root", async () => {
      publish(textFor(chain.earlier));
      const error = await failure(verifierAt(options()).verify(late.userID, { expectedPublicKey: ANY_KEY }));
      expect(error).to.include({ name: "VerificationError", code: "STATEMENT_TOO_OLD", step: "root" });
      expect(error).to.have.nested.property("evidence.block.hash", chain.earlier.hash);
      expect(error).to.include({ advice: "wait" });
    });

    it("warns if the app has known the user for longer than a publication takes", async () => {
      publish(textFor(chain.earlier));
      const known = { expectedPublicKey: ANY_KEY, knownSince: time() * 1000 - 3 * 86_400_000 };
      expect(await failure(verifierAt(options()).verify(late.userID, known))).to.include({
        ...{ code: "STATEMENT_TOO_OLD", advice: "warn" },
      });
    });

    it("advises the app to wait with statements that come hourly, and warns after three hours without one", async () => {
      publish(textFor(chain.head));
      const HOUR = 3600;
      const adviceAfter = async (seconds: number) => {
        const ms = (Number(chain.head.timestamp) + seconds) * 1000;
        const known = { expectedPublicKey: ANY_KEY, knownSince: ms - 1000 };
        const error = await failure(verifierAt({ ...options(), now: () => ms }).verify(sampleUserID(9), known));
        return (error as KeyrootError).advice;
      };
      expect(await adviceAfter(1.5 * HOUR)).to.equal("wait");
      expect(await adviceAfter(3 * HOUR)).to.equal("wait");
      expect(await adviceAfter(3 * HOUR + 1)).to.equal("warn");
    });

    it("advises the app to wait with as many auditors as its trust requires", async () => {
      publish(textFor(chain.head));
      const known = { expectedPublicKey: ANY_KEY, knownSince: time() * 1000 - 1000 };
      const adviceWith = async (threshold: number) => {
        const keys = auditors.slice(0, threshold).map(({ key }) => key);
        const trust = trustIn({ keys, threshold, urls: hosts.map(({ url }) => url) });
        const error = await failure(verifierAt({ ...options(), trust }).verify(sampleUserID(9), known));
        return (error as KeyrootError).advice;
      };
      expect([await adviceWith(1), await adviceWith(2)]).to.deep.equal(["wait", "wait"]);
    });

    it("reports NOT_PUBLISHED with the auditors as evidence", async () => {
      publish(textFor(chain.head));
      const error = await failure(verifierAt(options()).verify(sampleUserID(9), { expectedPublicKey: ANY_KEY }));
      expect(error).to.include({ code: "NOT_PUBLISHED" });
      expect(error).to.have.nested.property("evidence.source", "auditors");
    });
  });

  describe("for damaged roots", () => {
    const damaged = (root: string) => ({
      ...{ damagedCount: 1, damagedRoots: [{ root, codes: ["KEY_INVALID", "USER_HIDDEN"] }] },
    });
    const verify = () => verifierAt(options()).verify(userID, { expectedPublicKey: ANY_KEY });

    it("verifies the keys of all other roots", async () => {
      publish(textFor(chain.head, damaged("12".repeat(32))));
      expect((await verify()).evidence.damage).to.equal(undefined);
    });

    it("returns the damage that the auditors found in the user's root as evidence", async () => {
      const { root } = await verifierAt(chain.place()).verify(userID, { expectedPublicKey: ANY_KEY });
      publish(textFor(chain.head, damaged(root)));
      expect((await verify()).evidence.damage).to.deep.equal(["KEY_INVALID", "USER_HIDDEN"]);
    });

    it("accepts two statements for one block that differ only in damaged roots", async () => {
      const differing = textFor(chain.head, damaged("12".repeat(32)));
      hosts[0]?.files.set("latest", signedBy([alice, bob], differing));
      hosts[1]?.files.set("latest", signedBy([alice, bob], textFor(chain.head)));
      expect(await codeOf()).to.equal("truth");
    });
  });

  describe("with a cache", () => {
    it("returns a key without a request if enough auditors are unchanged", async () => {
      publish(textFor(chain.head), [alice, bob]);
      const cache = new Map<string, string>();
      const verify = async (changes: object = {}) =>
        verifyListOnce([{ userID, expectedPublicKey: ANY_KEY }], { ...options(changes), cache }).then(
          ([outcome]) => outcome && "verified" in outcome,
        );
      expect(await verify()).to.equal(true);
      for (const host of hosts) host.files.clear();
      expect(await verify()).to.equal(true);
      expect(await verify({ keys: [alice.key, carol.key] })).to.equal(false);
      expect(await verify({ threshold: 3 })).to.equal(false);
    });

    it("discards a key that only one endpoint confirmed", async () => {
      const cache = new Map<string, string>();
      const weak = { ...options(), trust: oneEndpoint({ block: "finalized" }) };
      const [first] = await verifyListOnce([{ userID, expectedPublicKey: ANY_KEY }], { ...weak, cache });
      expect(first).to.have.property("verified");
      const [second] = await verifyListOnce([{ userID, expectedPublicKey: ANY_KEY }], { ...options(), cache });
      expect(second).to.have.nested.property("error.code", "AUDITORS_NOT_REACHED");
    });
  });

  it("rejects wrong settings", () => {
    for (const urls of [[], "https://a.example", ["ftp://a.example"], ["http://a.example"], undefined])
      expect(() => verifierAt(options({ urls } as never)), JSON.stringify(urls)).to.throw(KeyrootError, "urls");
    expect(() => options({ treshold: 1 } as never)).to.throw(KeyrootError, "treshold");
    expect(() => options({ threshold: 4 })).to.throw(KeyrootError, "threshold option of auditors");
  });
});
