import { expect } from "chai";
import { inspect } from "node:util";
import { KeyrootError, UserClient, type UserClientOptions } from "@keyroot/client/user";
import { bytesToBase64 } from "keyroot/internal/bytes";
import {
  generateKeyPair,
  type KeyPair,
  makeChallenge,
  type PossessionStatement,
  provePossession,
  responseOf,
} from "keyroot/internal/identity";
import { add, decode, encode, IDENTITY, multiply, pointsOfSmallOrder } from "../../support/data/curve41417.ts";
import { sampleUserID } from "../../support/samples.ts";
import { refusalOf } from "../../support/refusalOf.ts";
import { keyFieldsOf } from "../../support/service/answerChallenge.ts";
import { failure } from "../../support/support.ts";

const SERVICE = "https://keys.example";
const CONTRACT = "0x997715D0eb47A50D7521ed0D2D023624a4333F9A";
const userID = sampleUserID(1);
const nonce = new Uint8Array(32).fill(9);
const JWT = `e30.${Buffer.from('{"iat":1,"exp":2}').toString("base64url")}.c2ln`;

describe("UserClient.register", () => {
  const keys = generateKeyPair();
  const statement = {
    ...{ service: SERVICE, registry: { chainId: 1, contract: CONTRACT }, userID },
    ...{ publicKey: keys.publicKey, nonce, expires: 5 },
  };
  const made = makeChallenge(statement);
  const challenge = {
    ...{ user_id: userID, state: "unregistered", challenge: bytesToBase64(nonce), expires: 5 },
    ...{ ephemeral_key: bytesToBase64(made.ephemeralKey), service: SERVICE, chain_id: 1 },
    contract: CONTRACT.toLowerCase(),
  };
  const record = {
    ...{ user_id: userID, bucket: "b", region: "us-west-2", stage: "s", salt: "0".repeat(32), created: 1 },
    ...{ state: "pending", ...keyFieldsOf(keys), possession: "proven", conflicting_keys: [] },
  };

  /** Creates a client whose service returns this challenge, and records its requests. */
  function client(changes: Record<string, unknown> = {}, options: Partial<UserClientOptions> = {}, jwt = JWT) {
    const sent: { url: string; body: string }[] = [];
    const fetch = ((url: string, { body }: { body: string }) => {
      sent.push({ url, body });
      const answer = url.endsWith("/jwt") ? { jwt } : url.endsWith("/challenge") ? challenge : record;
      return Promise.resolve(
        new Response(JSON.stringify(url.endsWith("/challenge") ? { ...answer, ...changes } : answer)),
      );
    }) as typeof globalThis.fetch;
    const common = { serviceUrl: SERVICE, bizID: "biz_1", refreshToken: "kru_x", retries: 0, fetch };
    const user = new UserClient({ ...common, chainId: 1, contract: CONTRACT, ...options });
    const responses = () =>
      sent
        .filter(({ url }) => url.endsWith("/register"))
        .map(({ body }) => (JSON.parse(body) as { response?: string }).response);
    return { user, sent, responses };
  }

  it("answers the challenge with the only valid response", async () => {
    const { user, sent, responses } = client();
    expect(await user.register(keys)).to.include({ state: "pending", possession: "proven" });
    expect(responses()).to.deep.equal([bytesToBase64(made.response)]);
    const scalar = [keys.privateKey.toString(), keys.privateKey.toString(16)];
    for (const text of [...scalar, bytesToBase64(encode(multiply(keys.privateKey, decode(made.ephemeralKey))))])
      expect(JSON.stringify(sent)).not.to.include(text);
    expect(inspect(user, { depth: null, showHidden: true })).not.to.include(scalar[0]);
  });

  it("sends no response if the key is already registered", async () => {
    const { user, responses } = client({ state: "published", challenge: undefined, ephemeral_key: undefined });
    await user.register(keys);
    expect(responses()).to.deep.equal([undefined]);
  });

  it("rejects another chain or contract even if the key is already registered", async () => {
    const registered = { state: "published", challenge: undefined, ephemeral_key: undefined, expires: undefined };
    for (const options of [{ chainId: 2 }, { contract: `0x${"5".repeat(40)}` }]) {
      const { user, responses } = client(registered, options);
      expect(await failure(user.register(keys))).to.include({ code: "CHALLENGE_MISMATCH" });
      expect(responses()).to.be.empty;
    }
  });

  it("sends no key with the refresh token of another user", async () => {
    const payload = Buffer.from(JSON.stringify({ iat: 1, exp: 2, sub: sampleUserID(2) })).toString("base64url");
    const { user, sent } = client({}, { userID }, `e30.${payload}.c2ln`);
    expect(await failure(user.register(keys)))
      .to.include({ code: "ARGUMENT_INVALID" })
      .and.have.property("message")
      .that.includes(sampleUserID(2));
    expect(sent.map(({ url }) => url)).to.deep.equal([`${SERVICE}/v1/public/auth/jwt`]);
  });

  it("calls the app's function for the response", async () => {
    const { user, responses } = client();
    let seen: PossessionStatement | undefined;
    const prove = (asked: PossessionStatement) => {
      seen = asked;
      return Promise.resolve(responseOf(asked, encode(multiply(keys.privateKey, decode(asked.ephemeralKey)))));
    };
    await user.register({ publicKey: keys.publicKey, prove });
    expect(responses()).to.deep.equal([bytesToBase64(made.response)]);
    expect(seen).to.deep.equal({ ...statement, keyType: "curve41417", ephemeralKey: made.ephemeralKey });
  });

  it("rejects a challenge for another service, chain or contract", async () => {
    const { user, sent } = client();
    await user.register(keys);
    const other = `0x${"5".repeat(40)}`;
    const cases: [Record<string, unknown>, Partial<UserClientOptions>][] = [
      [{ service: "https://other.example" }, {}],
      [{ chain_id: 2 }, {}],
      [{ contract: other }, {}],
      [{ chain_id: null, contract: null }, {}],
      [{ service: undefined }, {}],
      [{}, { service: "https://other.example" }],
      [{}, { chainId: 2 }],
      [{}, { contract: other }],
      [{}, { chainId: undefined, contract: undefined }],
    ];
    for (const [changes, options] of cases) {
      const { user, responses } = client(changes, options);
      const error = await failure(user.register(keys));
      expect(error, JSON.stringify([changes, options])).to.include({ code: "CHALLENGE_MISMATCH" });
      expect(responses()).to.be.empty;
    }
    expect(sent).to.have.length(3);
  });

  it("answers a relayed challenge with the service's real name", async () => {
    // A relayed challenge has another service's ephemeral key and nonce. The relay has replaced the service's name.
    const elsewhere = { ...statement, service: "https://other.example" };
    const relayed = makeChallenge(elsewhere);
    const { user, responses } = client({ ephemeral_key: bytesToBase64(relayed.ephemeralKey) });
    await user.register(keys);
    expect(responses()).not.to.include(bytesToBase64(relayed.response));
  });

  it("rejects a challenge for another user", async () => {
    await client({}, { userID }).user.register(keys);
    const { user, responses } = client({ user_id: sampleUserID(2) }, { userID });
    expect(await failure(user.register(keys))).to.include({ code: "SERVICE_ANSWER_INVALID" });
    expect(responses()).to.be.empty;
  });

  const [, ofOrderTwo = IDENTITY, , , ofOrderEight = IDENTITY] = pointsOfSmallOrder();
  const wrongSubgroup = (torsion: typeof IDENTITY) => encode(add(decode(made.ephemeralKey), torsion));
  for (const [what, point] of [
    ["the identity", encode(IDENTITY)],
    ["a point of order 2", encode(ofOrderTwo)],
    ["a point of order 8", encode(ofOrderEight)],
    ["a point of order 2n", wrongSubgroup(ofOrderTwo)],
    ["a point of order 8n", wrongSubgroup(ofOrderEight)],
    ["a point off the curve", encode({ x: 1n, y: 2n })],
    ["104 bytes", made.ephemeralKey.subarray(1)],
    ["nothing", new Uint8Array()],
  ] as const) {
    it(`rejects an ephemeral key that is ${what}`, async () => {
      const { user, responses } = client({ ephemeral_key: bytesToBase64(point) });
      let used = false;
      const prove = (statement: PossessionStatement) => {
        used = true;
        return provePossession(statement, keys.privateKey);
      };
      for (const key of [keys, { publicKey: keys.publicKey, prove }])
        expect(await failure(user.register(key))).to.include({ code: "SERVICE_ANSWER_INVALID" });
      expect([used, ...responses()]).to.deep.equal([false]);
    });
  }

  it("rejects a challenge with a malformed field", async () => {
    const values = [undefined, null, 1, -1, "", "A".repeat(44), "A".repeat(43) + "=", {}, [], true, "__proto__"];
    for (const field of ["user_id", "challenge", "ephemeral_key", "expires", "service", "chain_id", "contract"]) {
      for (const value of values) {
        const { user } = client({ [field]: value });
        const error = await user.register(keys).catch((error: unknown) => error);
        if (error instanceof Error) expect(error, `${field}: ${JSON.stringify(value)}`).to.be.instanceOf(KeyrootError);
      }
    }
  });

  it("rejects a wrong key pair before any response", async () => {
    const invalid: unknown[] = [
      { ...keys, privateKey: keys.privateKey + 1n },
      { ...keys, privateKey: 0n },
      { ...keys, privateKey: 5 },
      { publicKey: keys.publicKey },
      { publicKey: keys.publicKey, prove: 5 },
      { publicKey: keys.publicKey, prove: () => new Uint8Array(31) },
      keys.publicKey,
      undefined,
    ];
    for (const key of invalid) {
      const { user, responses } = client();
      const error = (await failure(user.register(key as KeyPair))) as KeyrootError;
      expect(error.code, inspect(key)).to.be.oneOf(["ARGUMENT_INVALID", "PUBLIC_KEY_LENGTH"]);
      expect(error.message).not.to.include(String(keys.privateKey + 1n));
      expect(responses()).to.be.empty;
    }
  });

  it("rejects a contract with a wrong checksum before any response", async () => {
    const contract = CONTRACT.replace("F9A", "F9a");
    const { user, responses } = client({}, { contract });
    expect(await failure(user.register(keys))).to.include({ code: "ARGUMENT_INVALID" });
    expect(responses()).to.deep.equal([]);
  });

  it("requires chainId and contract together", () => {
    for (const half of [{ chainId: undefined }, { contract: undefined }])
      expect(refusalOf(client, {}, half)).to.equal("ARGUMENT_INVALID");
  });
});
