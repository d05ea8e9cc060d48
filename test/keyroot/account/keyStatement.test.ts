import { expect } from "chai";
import { sign, webcrypto } from "node:crypto";
import {
  keyStatementText,
  makeAccount,
  makeKeyStatement,
  parseAccount,
  parseKeyStatement,
  parseAccountFile,
  serializeAccountFile,
  slotIDOf,
  verifyKeyStatement,
} from "keyroot/account";
import {
  plainAccount,
  plainAccountFile,
  plainKey,
  plainSignature,
  plainSigned,
  plainSlot,
  plainStatement,
  plainStatementText,
  withOtherS,
} from "../../support/account/plainAccount.ts";
import { samplePublicKeys } from "../../support/samples.ts";

const place = { chainId: 1, contract: `0x${"ab".repeat(20)}` };
const [phone, paper, partner] = [plainKey("p256", "phone"), plainKey("ed25519", "paper"), plainKey("p256", "partner")];
const expected = plainAccount([phone, paper, partner], 2, place);
const [publicKey = new Uint8Array()] = samplePublicKeys;
const base64 = Buffer.from(publicKey).toString("base64");

describe("accounts", () => {
  const account = makeAccount({
    ...{ ...place, contract: place.contract.toUpperCase().replace("0X", "0x") },
    keys: [phone, paper, partner].map(({ type, publicKey }) => ({ type, publicKey })),
    ...{ threshold: 2, salt: new Uint8Array(16) },
  });

  it("have the text and the ids that an independent program computes", () => {
    expect(account.text).to.equal(expected.text);
    expect(account.userID).to.equal(expected.userID);
    expect(parseAccount(account.text)).to.deep.equal(account);
    for (const number of [0, 1, 255, 256, 65_536, 2 ** 32 - 1])
      expect(slotIDOf(account, number)).to.equal(plainSlot(expected, number));
  });

  it("compress the P-256 keys that WebCrypto exports, and reject points that are not on the curve", () => {
    const { x = "", y = "" } = phone.privateKey.export({ format: "jwk" });
    const exported = Buffer.concat([Buffer.of(4), Buffer.from(x, "base64url"), Buffer.from(y, "base64url")]);
    const make = (publicKey: Uint8Array) =>
      makeAccount({ ...place, keys: [{ type: "p256", publicKey }], threshold: 1, salt: new Uint8Array(16) });
    expect(make(exported)).to.deep.equal(make(phone.publicKey));
    exported[64] = (exported[64] ?? 0) ^ 1;
    expect(() => make(exported)).to.throw(/33 or 65 bytes/);
  });

  it("have a random salt by default", () => {
    const options = { ...place, keys: [{ type: "ed25519", publicKey: paper.publicKey }] as const, threshold: 1 };
    expect(makeAccount(options).userID).to.not.equal(makeAccount(options).userID);
  });

  it("reject repeated and invalid keys, thresholds and salts", () => {
    const key = { type: "ed25519", publicKey: paper.publicKey } as const;
    const valid = { ...place, keys: [key], threshold: 1 };
    const faults = [
      { keys: [] },
      { keys: [key, key] },
      { keys: [{ ...key, type: "p256" as const }] },
      { keys: [{ ...key, publicKey: new Uint8Array(32) }] },
      { threshold: 0 },
      { threshold: 2 },
      { salt: new Uint8Array(15) },
      { contract: "0x12" },
    ];
    for (const fault of faults) expect(() => makeAccount({ ...valid, ...fault })).to.throw(/must be/);
  });

  describe("key statements", () => {
    const text = plainStatementText(expected.userID, 1, base64);
    const numbered = (keyNumber: number, signature: Uint8Array) => ({ keyNumber, signature });
    const fromPaper = numbered(2, plainSignature(paper, text));
    const make = (...signatures: ReturnType<typeof numbered>[]) =>
      makeKeyStatement(account, { number: 1, publicKey, signatures });
    const wanted = plainSigned(text, [numbered(1, plainSignature(phone, text)), fromPaper]);

    it("have the text that recovery keys sign", () => {
      expect(keyStatementText(account, { number: 1, publicKey })).to.equal(text);
      const closed = plainStatementText(expected.userID, 7, undefined);
      expect(keyStatementText(account, { number: 7, publicKey: "void" })).to.equal(closed);
    });

    it("contain P-256 signatures with the low S, whatever form a phone's hardware returned", () => {
      // ECDSA signatures are random, so each form has another one.
      const low = plainSignature(phone, text);
      const der = sign("sha256", Buffer.from(text), phone.privateKey);
      for (const signature of [low, withOtherS(low), der]) {
        const statement = make(numbered(1, signature), fromPaper);
        expect(verifyKeyStatement(account, statement)).to.deep.equal({
          account: account.userID,
          number: 1,
          publicKey: base64,
        });
      }
      expect(make(numbered(1, withOtherS(low)), fromPaper)).to.equal(make(numbered(1, low), fromPaper));
      expect(wanted).to.have.lengthOf(make(numbered(1, der), fromPaper).length);
    });

    it("contain signatures of WebCrypto", async () => {
      const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
      const key = await webcrypto.subtle.importKey("jwk", phone.privateKey.export({ format: "jwk" }), algorithm, true, [
        "sign",
      ]);
      for (let i = 0; i < 8; i++) {
        const signature = new Uint8Array(await webcrypto.subtle.sign(algorithm, key, Buffer.from(text)));
        verifyKeyStatement(account, make(numbered(1, signature), fromPaper));
      }
    });

    it("contain exactly the threshold of signatures, in ascending order", () => {
      const others = [numbered(3, plainSignature(partner, text)), fromPaper, numbered(1, plainSignature(phone, text))];
      const { signatures } = parseKeyStatement(make(...others));
      expect(signatures.map(({ keyNumber }) => keyNumber)).to.deep.equal([1, 2]);
      expect(() => make(fromPaper)).to.throw(/needs 2 signatures, but has 1/);
      expect(() => make(fromPaper, fromPaper)).to.throw(/different keys/);
      expect(() => make(numbered(1, plainSignature(phone, `${text}\n`)), fromPaper)).to.throw(/key 1 is false/);
    });

    it("form the account file that an independent program writes", () => {
      const statements = [plainStatement(expected, 1, base64), plainStatement(expected, 2, undefined)];
      const file = plainAccountFile(expected, statements);
      expect(serializeAccountFile(account, statements)).to.equal(file);
      expect(parseAccountFile(file)).to.deep.equal(parseAccountFile(Buffer.from(file)));
      expect(() => parseAccountFile(file.repeat(100))).to.throw(/has \d+ bytes/);
      expect(() => serializeAccountFile(account, statements.slice(1))).to.throw(/must name a key/);
      expect(() => serializeAccountFile(account, [])).to.throw(/1 to 16 statements/);
    });
  });
});
