import { expect } from "chai";
import { inspect } from "node:util";
import { generateKeyPair, type KeyPair } from "keyroot/internal/identity";
import { createVerifier, type KeyRecord, type UserID, oneEndpoint } from "keyroot";
import { makeKeyRecord, randomUserID } from "keyroot/records";
import { makeMerkleFile } from "keyroot/merkle";
import { cannedAnswers } from "../../support/data/cannedAnswers.ts";
import { PartnerClient } from "@keyroot/client/partner";
import { UserClient, type UserClientOptions } from "../../../packages/client/src/user/userClient.ts";
import { type FaultyProxy, faultyProxy } from "../../support/servers/faultyProxy.ts";
import { newPartner, type Partner } from "../../support/service/newPartner.ts";
import { encode, pointsOfSmallOrder } from "../../support/data/curve41417.ts";
import { refusalOf } from "../../support/refusalOf.ts";
import { sampleKeyPairs } from "../../support/samples.ts";
import { scriptedService } from "../../support/servers/scriptedService.ts";
import { serviceOnPostgres } from "../../support/service/support.ts";
import { closedAfterEach, failure } from "../../support/support.ts";

const HOUR = 3_600_000;

describe("UserClient", () => {
  const closing = closedAfterEach();
  const [keys, otherKeys] = sampleKeyPairs as [KeyPair, KeyPair];
  const { publicKey: key } = keys;
  const service = serviceOnPostgres();
  let partner: Partner;
  let proxy: FaultyProxy;
  let userID: UserID;
  let refreshToken: string;

  beforeEach(async () => {
    partner = await newPartner(service);
    proxy = closing(await faultyProxy(service.url));
    [userID, refreshToken] = await newUser();
  });

  const ofPartner = () => new PartnerClient({ serviceUrl: service.url, ...partner });
  const newUser = async (): Promise<[UserID, string]> => {
    const userID = randomUserID();
    await ofPartner().createUser(userID, "eu-west-1");
    return [userID, await ofPartner().createUserRefreshToken(userID, "telephone")];
  };
  const client = (options: Partial<UserClientOptions> = {}) =>
    new UserClient({ serviceUrl: proxy.url, service: service.url, bizID: partner.bizID, refreshToken, ...options });

  describe("register", () => {
    it("stores the key and its id in the record", async () => {
      const user = client();
      const before = await user.record();
      expect(before)
        .to.include({ user_id: userID, region: "eu-west-1", state: "unregistered" })
        .and.not.have.property("public_key");
      const record = await user.register(keys);
      const { pubKey, keyID } = makeKeyRecord(userID, key);
      const { hold_ends_at } = record;
      expect(record).to.deep.equal({
        ...before,
        state: "pending",
        public_key: pubKey,
        key_id: keyID,
        possession: "proven",
        hold_ends_at,
      });
      expect(hold_ends_at).to.be.a("number");
      expect(await user.record()).to.deep.equal(record);
    });

    it("accepts only the same key again", async () => {
      const record = await client().register(keys);
      expect(await client().register(keys)).to.deep.equal(record);
      expect(await failure(client().register(otherKeys))).to.include({ code: "PUBLIC_KEY_REGISTERED", status: 409 });
      expect(await client().record()).to.deep.include({ key_id: record.key_id, hold_ends_at: record.hold_ends_at });
    });

    it("rejects an invalid key before any request", async () => {
      const [, small] = pointsOfSmallOrder();
      const offCurve = key.with(104, (key[104] ?? 0) ^ 1);
      const bad = [new Uint8Array(), key.subarray(1), key.with(0, 5), offCurve, small && encode(small)] as Uint8Array[];
      const codes = ["LENGTH", "LENGTH", "FORMAT", "NOT_ON_CURVE", "SMALL_ORDER"];
      for (const [i, publicKey] of bad.entries()) {
        expect(await failure(client().register({ ...keys, publicKey }))).to.include({ code: `PUBLIC_KEY_${codes[i]}` });
      }
      expect(proxy.seen).to.be.empty;
    });

    it("registers the key only once if the connection breaks after the request", async () => {
      proxy.fail("/publicKey/register", "reset after", { status: 503, headers: { "Retry-After": "0" } });
      expect(await client().register(keys)).to.include({ state: "pending" });
      expect(proxy.to("/publicKey/register")).to.have.lengthOf(3);
    });
  });

  describe("after another party registered a key", () => {
    it("withdraws the other party's key even if a response is lost", async () => {
      const { key_id: keyID = "" } = await client().register(otherKeys);
      proxy.fail("/publicKey/withdraw", "reset after");
      await client().withdraw(keyID);
      expect(await client().record()).to.include({ state: "unregistered" });
      expect(await client().register(keys)).to.include({ state: "pending" });
      expect(await failure(client().withdraw(keyID))).to.include({ code: "PUBLIC_KEY_UNKNOWN" });
    });

    it("adds the conflicting key to the record", async () => {
      const { hold_ends_at } = await client().register(otherKeys);
      const error = await failure(client().register(keys));
      expect(error).to.include({ code: "PUBLIC_KEY_REGISTERED" });
      expect(error).to.have.property("key").that.deep.equals({ state: "pending", holdEndsAt: hold_ends_at });
      const [other] = (await client().record()).conflicting_keys;
      expect(other).to.include({ key_id: makeKeyRecord(userID, key).keyID, withdrawn: false });
    });

    it("shows the conflict to the partner", async () => {
      const { key_id: keyID = "" } = await client().register(otherKeys);
      await failure(client().register(keys));
      const seen = await ofPartner().publicKeyOf(userID);
      expect(seen).to.include({ user_id: userID, state: "pending", key_id: keyID });
      expect(seen.events.map(({ type }) => type)).to.deep.equal(["conflict", "registered"]);
      await ofPartner().approvePublicKey(userID, keyID);
      expect((await ofPartner().publicKeyOf(userID)).conflicting_keys).to.be.empty;
      await ofPartner().discardPublicKey(userID, keyID);
      expect(await ofPartner().publicKeyOf(userID)).to.include({ state: "unregistered" });
    });
  });

  describe("publicKeyOf", () => {
    const [mine, other] = [keys, otherKeys].map(({ publicKey }) => makeKeyRecord(randomUserID(), publicKey));
    /** Creates a verifier with recorded responses in which the user has this key. */
    const verifierOf = (record = mine) => {
      const { answers, options, fetchFrom } = cannedAnswers(makeMerkleFile([{ ...record, userID } as KeyRecord]));
      return createVerifier({ ...options, trust: oneEndpoint(), fetch: fetchFrom(answers) });
    };

    it("returns the service's key if it is published", async () => {
      await client().register(keys);
      const { publicKey, record } = await client().publicKeyOf(userID, verifierOf());
      expect(publicKey).to.deep.equal(key);
      expect(record.userID).to.equal(userID);
    });

    it("rejects the service's key if another key is published", async () => {
      await client().register(keys);
      const refused = client().publicKeyOf(userID, verifierOf(other));
      expect(await failure(refused)).to.include({ name: "VerificationError", code: "KEY_MISMATCH" });
    });

    it("returns a key from the verifier's cache while neither the service nor the chain responds", async () => {
      await client().register(keys);
      const { answers, options, fetchFrom } = cannedAnswers(makeMerkleFile([{ ...mine, userID } as KeyRecord]));
      const cache = new Map<string, string>();
      const online = { ...options, trust: oneEndpoint(), cache, fetch: fetchFrom(answers) };
      const offline = createVerifier({ ...online, fetch: () => Promise.reject(new TypeError("Failed to fetch")) });
      const away = new UserClient({ serviceUrl: "http://127.0.0.1:1", bizID: partner.bizID, refreshToken });
      expect(await failure(away.publicKeyOf(userID, offline))).to.include({ code: "UNREACHABLE" });
      await client().publicKeyOf(userID, createVerifier(online));
      const { publicKey, cached } = await away.publicKeyOf(userID, offline);
      expect(publicKey).to.deep.equal(key);
      expect(cached?.offline).to.include({ advice: "retry" });
      // A key that only the chain confirms was not compared with the service's key.
      expect(await failure(away.publicKeyOf(userID, createVerifier(online)))).to.include({ code: "UNREACHABLE" });
    });

    it("rejects a missing verifier before any request", async () => {
      for (const verifier of [undefined, {}, { verify: "no" }]) {
        const refused = client().publicKeyOf(userID, verifier as never);
        expect(await failure(refused)).to.include({ code: "ARGUMENT_INVALID" });
      }
      expect(proxy.to("/publicKey/get")).to.be.empty;
    });

    it("passes its signal to the verification", async () => {
      await client().register(keys);
      const verify = (_: string, { signal }: { signal?: AbortSignal | undefined }) => Promise.resolve(signal);
      const { signal } = new AbortController();
      expect(await client().publicKeyOf(userID, { verify }, { signal })).to.equal(signal);
    });
  });

  describe("unverifiedPublicKeyOf", () => {
    it("returns the registered key of another user of the partner", async () => {
      const generated = generateKeyPair();
      await client().register(generated);
      const [, token] = await newUser();
      const { pubKey, keyID } = makeKeyRecord(userID, generated.publicKey);
      const friend = client({ refreshToken: token });
      expect(await friend.unverifiedPublicKeyOf(userID)).to.include({
        ...{ user_id: userID, public_key: pubKey, key_id: keyID },
        ...{ state: "pending", possession: "proven" },
      });
    });

    it("rejects a user without a registered key", async () => {
      expect(await failure(client().unverifiedPublicKeyOf(userID))).to.include({
        code: "PUBLIC_KEY_UNKNOWN",
        status: 404,
      });
      expect(await failure(client().unverifiedPublicKeyOf(randomUserID()))).to.include({
        code: "USER_UNKNOWN",
        status: 404,
      });
      const requests = proxy.seen.length;
      expect(await failure(client().unverifiedPublicKeyOf("nobody"))).to.include({ code: "USER_ID_INVALID" });
      expect(proxy.seen).to.have.lengthOf(requests);
    });
  });

  describe("with an access token", () => {
    it("requests the token once for 50 concurrent calls", async () => {
      const user = client();
      // In the second round, the service rejects each call once, because the token has expired.
      for (const [exchanges, requests] of [
        [1, 51],
        [2, 152],
      ] as const) {
        await Promise.all(Array.from({ length: 50 }, () => user.record()));
        expect(proxy.to("/auth/jwt")).to.have.lengthOf(exchanges);
        expect(proxy.seen).to.have.lengthOf(requests);
        service.ahead += 5 * HOUR;
      }
      for (const { path } of proxy.seen) expect(path).to.match(/^\/v1\/[a-zA-Z/]+$/);
    });
  });

  describe("with the service's response", () => {
    const place = { bucket: "b", region: "us-west-2", stage: "s" };
    const record = () => ({
      ...place,
      user_id: userID,
      salt: "0".repeat(32),
      created: 1,
      state: "published",
      root: "0".repeat(64),
      transaction: `0x${"0".repeat(64)}`,
      public_key: makeKeyRecord(userID, key).pubKey,
      key_id: makeKeyRecord(userID, key).keyID,
      possession: "proven",
      conflicting_keys: [],
    });
    const answered = (answer: unknown) => client(scriptedService(200, JSON.stringify(answer)));

    it("returns the root and the transaction of a published key", async () => {
      expect(await answered(record()).record()).to.deep.equal(record());
      const { user_id, public_key, key_id, possession, state, root, transaction } = record();
      const expected = { user_id, public_key, key_id, possession, state, root, transaction };
      expect(await answered(record()).unverifiedPublicKeyOf(userID)).to.deep.equal(expected);
    });

    it("rejects a malformed record", async () => {
      const other = makeKeyRecord(userID, otherKeys.publicKey);
      const point = Buffer.alloc(105, 4).toString("base64");
      const bad = [
        null,
        { ...record(), user_id: "nobody" },
        { ...record(), state: "lost" },
        { ...record(), state: undefined },
        { ...record(), public_key: undefined },
        { ...record(), public_key: point },
        { ...record(), public_key: other.pubKey },
        { ...record(), key_id: other.keyID },
        { ...record(), possession: "claimed" },
        { ...record(), hold_ends_at: "soon" },
        { ...record(), root: "0" },
        { ...record(), root: null },
        { ...record(), transaction: "0x" },
      ];
      for (const answer of bad) {
        const user = answered(answer);
        for (const call of [() => user.record(), () => user.unverifiedPublicKeyOf(userID), () => user.register(keys)]) {
          const error = await failure(call());
          expect(error, JSON.stringify(answer)).to.include({ name: "TransportError", code: "SERVICE_ANSWER_INVALID" });
        }
      }
      const stranger = answered({ ...record(), user_id: randomUserID() });
      expect(await failure(stranger.unverifiedPublicKeyOf(userID))).to.include({ code: "SERVICE_ANSWER_INVALID" });
      const swapped = answered({ ...record(), public_key: other.pubKey, key_id: other.keyID });
      expect(await failure(swapped.register(keys))).to.include({ code: "SERVICE_ANSWER_INVALID" });
    });
  });

  describe("with a refresh token", () => {
    it("hides the token in its properties and errors", async () => {
      const user = client({ retries: 0 });
      await user.record();
      const echo = JSON.stringify({
        code: "DEFECT",
        detail: `${refreshToken} ${proxy.seen.at(-1)?.headers.authorization}`,
      });
      const shown: unknown[] = [user];
      for (const fault of ["reset before", "silence", { status: 500, body: echo }] as const) {
        proxy.disturb(() => fault);
        const signal = AbortSignal.timeout(200);
        shown.push(await failure(user.record({ signal })));
        shown.push(await failure(client({ retries: 0, timeoutMs: 50 }).record()));
      }
      const text = inspect(shown, { depth: null, showHidden: true }) + JSON.stringify(shown);
      expect(text)
        .not.to.include(refreshToken.slice(-43))
        .and.not.to.match(/eyJ[\w-]+\./);
    });

    it("rejects a server token", () => {
      expect(refusalOf(client, { refreshToken: partner.serverToken })).to.equal("ARGUMENT_INVALID");
    });
  });
});
