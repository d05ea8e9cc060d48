import { expect } from "chai";
import {
  type AuditorList,
  parseAuditorOptions,
  parseSignedAuditorList,
  serializeAuditorList,
  serializeSignedNote,
  verifyAuditorList,
} from "keyroot/auditors/protocol";
import {
  type Auditors,
  findAuditors,
  type ListPlace,
} from "../../../../packages/keyroot/src/blocks/auditors/findAuditors.ts";
import { statementHosts } from "../../../support/auditors/statementHost.ts";
import { keyText, signedBy, type TestAuditor, testAuditors } from "../../../support/auditors/testAuditor.ts";
import { codeOf as codeOfCall } from "../../../support/refusalOf.ts";
import { failure } from "../../../support/support.ts";

const TIME = 1_800_000_000;
const NOW = TIME * 1000;
const PLACE = { chainId: 1, contract: `0x${"ab".repeat(20)}` };
const [alice, bob, carol, dave, erin] = testAuditors("alice", "bob", "carol", "dave", "erin");
const POLICY = parseAuditorOptions({ keys: [alice, bob, carol].map(({ key }) => key), threshold: 2 });

const listOf = (auditors: readonly TestAuditor[], changes: Partial<AuditorList> = {}): string =>
  serializeAuditorList({
    ...{ ...PLACE, sequence: 1, threshold: 2 },
    auditors: auditors.map(({ key, name }) => ({ key, url: `https://${name}/statements` })),
    ...changes,
  });
/** A list of auditors in which dave replaces alice. */
const TEXT = listOf([bob, carol, dave]);

/** Returns the error code for a list, or undefined if the library accepts the list. */
const codeOf = (file: string | Uint8Array, now = NOW, place = PLACE) =>
  codeOfCall(() => verifyAuditorList(parseSignedAuditorList(Buffer.from(file as Uint8Array)), place, POLICY, now));

describe("verifyAuditorList", () => {
  it("accepts a list that two of the three previous auditors signed", () => {
    const signed = parseSignedAuditorList(Buffer.from(signedBy([alice, bob], TEXT, TIME)));
    const { sequence, threshold, policy } = verifyAuditorList(signed, PLACE, POLICY, NOW * 2);
    expect({ sequence, threshold }).to.deep.equal({ sequence: 1, threshold: 2 });
    expect(policy.keys.map(({ text }) => text)).to.deep.equal([bob.key, carol.key, dave.key]);
  });

  it("accepts a list that was parsed and written again", () => {
    const file = signedBy([alice, bob], TEXT, TIME);
    expect(serializeSignedNote(parseSignedAuditorList(Buffer.from(file)))).to.equal(file);
  });

  describe("for an invalid list", () => {
    it("rejects a list that too few previous auditors signed", () => {
      expect(codeOf(signedBy([alice], TEXT, TIME))).to.equal("AUDITORS_NOT_REACHED");
      expect(codeOf(signedBy([alice, alice], TEXT, TIME))).to.equal("AUDITORS_NOT_REACHED");
      expect(codeOf(signedBy([alice, dave, erin], TEXT, TIME))).to.equal("AUDITORS_NOT_REACHED");
    });

    it("rejects signatures that are too far in the future", () => {
      expect(codeOf(signedBy([alice, bob], TEXT, TIME), NOW - 120_000)).to.equal(undefined);
      expect(codeOf(signedBy([alice, bob], TEXT, TIME), NOW - 120_001)).to.equal("AUDITORS_NOT_REACHED");
    });

    it("rejects a signature of a different text", () => {
      const other = bob.line(listOf([alice, dave, erin]), TIME);
      expect(codeOf(signedBy([alice, carol], TEXT, TIME) + other)).to.equal("STATEMENT_INVALID");
    });

    it("rejects a list for another chain or contract", () => {
      const signed = signedBy([alice, bob], TEXT, TIME);
      expect(codeOf(signed, NOW, { ...PLACE, chainId: 10 })).to.equal("CHAIN_ID_MISMATCH");
      expect(codeOf(signed, NOW, { ...PLACE, contract: `0x${"12".repeat(20)}` })).to.equal("CONTRACT_MISMATCH");
    });

    it("rejects a list of 1 MB before parsing", () => {
      expect(codeOf(`${TEXT}\n${alice.line(TEXT, TIME).repeat(7000)}`)).to.equal("FILE_TOO_LARGE");
    });

    const url = "https://a.example";
    const texts: Record<string, string> = {
      "no auditors": listOf([]),
      "a threshold of 0": listOf([bob, carol], { threshold: 0 }),
      "a threshold above the number of keys": listOf([bob, carol], { threshold: 3 }),
      "a threshold that is not a number": listOf([bob, carol], { threshold: NaN }),
      "a sequence number of 0": listOf([bob, carol], { sequence: 0 }),
      "a sequence number above 2^53": TEXT.replace("sequence 1", "sequence 9007199254740993"),
      "a number with a leading zero": TEXT.replace("threshold 2", "threshold 02"),
      "a repeated key": listOf([bob, bob]),
      "one key under two names": listOf([bob, carol], {
        auditors: [bob.key, keyText("mallory.example", bob.publicKey)].map((key) => ({ key, url })),
      }),
      "a key in another encoding": TEXT.replace(bob.key, `${bob.key}=`),
      "a URL that is not https": TEXT.replace("https://bob.example", "http://bob.example"),
      "a URL with a password": TEXT.replace("https://bob.example", "https://a:b@bob.example"),
      "no URL": TEXT.replace(" https://bob.example/statements", ""),
      "Windows line endings": TEXT.replaceAll("\n", "\r\n"),
      "a statement's first line": TEXT.replace("auditors-v1", "statement-v1"),
      "a contract address in upper case": TEXT.replaceAll("ab", "AB"),
      "an additional line": `${TEXT}note x\n`,
    };
    for (const [what, text] of Object.entries(texts))
      it(`rejects a list with ${what}`, () => {
        expect(text).to.not.equal(TEXT);
        expect(codeOf(signedBy([alice, bob], text, TIME))).to.equal("STATEMENT_INVALID");
      });

    it("rejects a list with any changed byte", () => {
      const bytes = Buffer.from(signedBy([alice, bob], TEXT, TIME));
      // The loop changes each byte of the text and the first bytes of the signatures.
      for (let i = 0; i < TEXT.length + 60; i++) {
        const changed = Buffer.from(bytes);
        changed.writeUInt8(changed.readUInt8(i) ^ 1, i);
        expect(codeOf(changed), `byte ${i}`).to.not.equal(undefined);
      }
    });
  });
});

describe("findAuditors", () => {
  const hosts = statementHosts(2);
  let lists: ListPlace & { store: Map<string, string> };
  beforeEach(() => {
    lists = { place: PLACE, store: new Map() };
  });

  const start = (): Auditors => ({ policy: POLICY, folders: hosts.map(({ url }) => url), sequence: 0 });
  const search = { http: { timeoutMs: 30_000 }, now: NOW };
  const find = () => findAuditors(start(), lists, search);
  /** Serves a list of auditors. Each host's copy has the signature of one auditor. */
  const serve = (auditors: readonly TestAuditor[], by: readonly TestAuditor[], sequence = 1) => {
    const [{ url } = { url: "" }] = hosts;
    const text = listOf(auditors, { sequence, auditors: auditors.map(({ key }) => ({ key, url })) });
    for (const [i, auditor] of by.entries())
      hosts[i]?.files.set(`auditors-${sequence}`, signedBy([auditor], text, TIME));
  };
  const namesOf = ({ policy }: Auditors) => policy.keys.map(({ name }) => name.split(".")[0]);

  it("returns the original auditors if there is no newer list", async () => {
    expect(await find()).to.deep.equal(start());
  });

  it("returns the auditors of the newest valid list", async () => {
    serve([bob, carol, dave], [alice, bob]);
    serve([dave, erin], [carol, dave], 2);
    const found = await find();
    expect(found.sequence).to.equal(2);
    expect(namesOf(found)).to.deep.equal(["dave", "erin"]);
  });

  it("ignores a list that needs a revoked key's signature", async () => {
    serve([bob, carol, dave], [alice, bob]);
    serve([dave, erin], [alice, bob], 2);
    expect(await find()).to.include({ sequence: 1 });
  });

  it("stores the newest auditors for calls that send no requests", async () => {
    serve([bob, carol, dave], [alice, bob]);
    await find();
    const requests = hosts.map((host) => host.requests);
    expect(namesOf(await findAuditors(start(), lists, undefined))).to.deep.equal(["bob", "carol", "dave"]);
    expect(hosts.map((host) => host.requests)).to.deep.equal(requests);
  });

  it("keeps the newest auditors if the hosts return older lists", async () => {
    serve([bob, carol, dave], [alice, bob]);
    await find();
    for (const host of hosts) host.files.clear();
    expect(await find()).to.include({ sequence: 1 });
    serve([alice, bob, erin], [alice, carol]);
    expect(namesOf(await find())).to.deep.equal(["bob", "carol", "dave"]);
  });

  it("reads the hosts again if the store is damaged or forged", async () => {
    serve([bob, carol, dave], [alice, bob]);
    await find();
    const [[name, text] = ["", ""]] = lists.store;
    const forged = signedBy([dave, erin], listOf([dave, erin]), TIME);
    for (const damaged of ["", "{}", text.slice(0, -20), text.replace("threshold 2", "threshold 1"), forged]) {
      lists.store.set(name, damaged);
      expect(namesOf(await find())).to.deep.equal(["bob", "carol", "dave"]);
      expect(lists.store.get(name)).to.equal(text);
    }
  });

  it("ignores lists with a wrong contract, sequence number, size or signature", async () => {
    const other = listOf([dave, erin], { contract: `0x${"12".repeat(20)}` });
    const later = listOf([dave, erin], { sequence: 2 });
    const files = [
      ...[other, later].map((text) => signedBy([alice, bob], text, TIME)),
      ...["x".repeat(2 ** 20), signedBy([alice, bob], TEXT, TIME) + carol.line(other, TIME)],
    ];
    for (const file of files) {
      hosts[0]?.files.set("auditors-1", file);
      expect(await find()).to.include({ sequence: 0 });
    }
  });

  it("fails if enough auditors signed two different lists", async () => {
    const two = [listOf([bob, carol, dave]), listOf([alice, bob, erin])];
    for (const [i, text] of two.entries()) hosts[i]?.files.set("auditors-1", signedBy([alice, bob], text, TIME));
    expect(await failure(find())).to.include({ code: "STATEMENT_CONFLICT", step: "anchor" });
    expect(lists.store.size).to.equal(0);
  });
});
