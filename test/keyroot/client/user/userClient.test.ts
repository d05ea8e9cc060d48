import { expect } from "chai";
import { inspect } from "node:util";
import { generateKeyPair, type KeyPair } from "../../../../packages/keyroot/src/identity/newPublicKey.ts";
import { makeKeyRecord } from "../../../../packages/keyroot/src/identity/keyRecord.ts";
import { randomUserID, type UserID } from "../../../../packages/keyroot/src/identity/userID.ts";
import { PartnerClient } from "../../../../packages/keyroot/src/client/partner/partnerClient.ts";
import { UserClient, type UserClientOptions } from "../../../../packages/keyroot/src/client/user/userClient.ts";
import { type FaultyProxy, faultyProxy } from "../../../support/faultyProxy.ts";
import { newPartner, type Partner } from "../../../support/newPartner.ts";
import { encode, pointsOfSmallOrder } from "../../../../fixtures/curve41417.ts";
import { sampleKeyPairs } from "../../../../fixtures/samples.ts";
import { serve } from "../../../support/servers.ts";
import { serviceOnPostgres } from "../../../support/service/support.ts";
import { all, closedAfterEach, failure } from "../../../support/support.ts";

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

  const ofPartner = () => new PartnerClient({ baseUrl: service.url, ...partner });
  const newUser = async (): Promise<[UserID, string]> => {
    const userID = randomUserID();
    await ofPartner().createUser(userID, "eu-west-1");
    return [userID, await ofPartner().createRefreshToken(userID, "telephone")];
  };
  const client = (options: Partial<UserClientOptions> = {}) =>
    new UserClient({ baseUrl: proxy.url, service: service.url, bizId: partner.bizId, refreshToken, ...options });

  describe("register", () => {
    it("sends the key with its id, and the record then has it", async () => {
      const user = client();
      const before = await user.record();
      expect(before)
        .to.include({ user_id: userID, region: "eu-west-1", state: "unregistered" })
        .and.not.have.property("pubKey");
      const record = await user.register(keys);
      const { pubKey, keyID } = makeKeyRecord(userID, key);
      const { publishableAt } = record;
      expect(record).to.deep.equal({ ...before, state: "pending", pubKey, keyID, possession: "proven", publishableAt });
      expect(publishableAt).to.be.a("number");
      expect(await user.record()).to.deep.equal(record);
    });

    it("has no effect with the same key, and is refused with another", async () => {
      const record = await client().register(keys);
      expect(await client().register(keys)).to.deep.equal(record);
      expect(await failure(client().register(otherKeys))).to.include({ code: "PUBLIC_KEY_REGISTERED", status: 409 });
      expect(await client().record()).to.deep.include({ keyID: record.keyID, publishableAt: record.publishableAt });
    });

    it("refuses an invalid key before any request", async () => {
      const [, small] = pointsOfSmallOrder();
      const offCurve = key.with(104, (key[104] ?? 0) ^ 1);
      const bad = [new Uint8Array(), key.subarray(1), key.with(0, 5), offCurve, small && encode(small)] as Uint8Array[];
      const codes = ["LENGTH", "LENGTH", "FORMAT", "NOT_ON_CURVE", "SMALL_ORDER"];
      for (const [i, publicKey] of bad.entries()) {
        expect(await failure(client().register({ ...keys, publicKey }))).to.include({ code: `PUBLIC_KEY_${codes[i]}` });
      }
      expect(proxy.seen).to.be.empty;
    });

    it("has one effect if the connection breaks after the service acted", async () => {
      proxy.fail("/publicKey/register", "reset after", { status: 503, headers: { "Retry-After": "0" } });
      expect(await client().register(keys)).to.include({ state: "pending" });
      expect(proxy.to("/publicKey/register")).to.have.lengthOf(3);
    });
  });

  describe("an objection", () => {
    it("by the user withdraws a key, also if the answer is lost", async () => {
      const { keyID = "" } = await client().register(otherKeys);
      proxy.fail("/publicKey/withdraw", "reset after");
      await client().withdraw(keyID);
      expect(await client().record()).to.include({ state: "unregistered" });
      expect(await client().register(keys)).to.include({ state: "pending" });
      expect(await failure(client().withdraw(keyID))).to.include({ code: "PUBLIC_KEY_UNKNOWN" });
    });

    it("by another key is in the record, and the error has the state of the registered key", async () => {
      const { publishableAt } = await client().register(otherKeys);
      const error = await failure(client().register(keys));
      expect(error).to.include({ code: "PUBLIC_KEY_REGISTERED" });
      expect(error).to.have.property("key").that.deep.equals({ state: "pending", publishableAt });
      const [other] = (await client().record()).otherKeys;
      expect(other).to.include({ keyID: makeKeyRecord(userID, key).keyID, withdrawn: false });
    });

    it("is seen by the partner, who discards or approves the key", async () => {
      const { keyID = "" } = await client().register(otherKeys);
      await failure(client().register(keys));
      const seen = await ofPartner().publicKeyOf(userID);
      expect(seen).to.include({ user_id: userID, state: "pending", keyID });
      expect(seen.events.map(({ type }) => type)).to.deep.equal(["offered", "registered"]);
      await ofPartner().approvePublicKey(userID, keyID);
      expect((await ofPartner().publicKeyOf(userID)).otherKeys).to.be.empty;
      await ofPartner().discardPublicKey(userID, keyID);
      expect(await ofPartner().publicKeyOf(userID)).to.include({ state: "unregistered" });
    });
  });

  describe("publicKeyOf", () => {
    it("returns what another user of the same partner registered", async () => {
      const generated = generateKeyPair();
      await client().register(generated);
      const [, token] = await newUser();
      const { pubKey, keyID } = makeKeyRecord(userID, generated.publicKey);
      const friend = client({ refreshToken: token });
      expect(await friend.publicKeyOf(userID)).to.include({
        ...{ user_id: userID, pubKey, keyID },
        ...{ state: "pending", possession: "proven" },
      });
    });

    it("is refused for a user without a key, an unknown user, and an invalid id", async () => {
      expect(await failure(client().publicKeyOf(userID))).to.include({ code: "PUBLIC_KEY_UNKNOWN", status: 404 });
      expect(await failure(client().publicKeyOf(randomUserID()))).to.include({ code: "USER_UNKNOWN", status: 404 });
      const requests = proxy.seen.length;
      expect(await failure(client().publicKeyOf("nobody"))).to.include({ code: "USER_ID_INVALID" });
      expect(proxy.seen).to.have.lengthOf(requests);
    });
  });

  describe("the access token", () => {
    it("is exchanged once for 50 concurrent calls, and once again when it has expired", async () => {
      const user = client();
      for (const exchanges of [1, 2]) {
        await Promise.all(Array.from({ length: 50 }, () => user.record()));
        expect(proxy.to("/auth/jwt")).to.have.lengthOf(exchanges);
        service.ahead += 5 * HOUR;
      }
    });

    it("is refused as soon as its refresh token is revoked", async () => {
      const user = client();
      await user.record();
      const [token] = await all(ofPartner().listRefreshTokens(userID));
      await ofPartner().revokeRefreshToken(userID, token?.token_id ?? "");
      expect(await failure(user.record())).to.include({ code: "ACCESS_TOKEN_REVOKED", status: 401 });
      expect(proxy.to("/auth/jwt")).to.have.lengthOf(1);
      expect(await failure(client().record())).to.include({ code: "REFRESH_TOKEN_REFUSED", status: 401 });
    });

    it("is not accepted for another partner", async () => {
      const other = await newPartner(service);
      expect(await failure(client({ bizId: other.bizId }).record())).to.include({ code: "REFRESH_TOKEN_REFUSED" });
    });
  });

  describe("an answer", () => {
    const place = { bucket: "b", region: "us-west-2", stage: "s" };
    const record = () => ({
      ...place,
      user_id: userID,
      salt: "0".repeat(32),
      created: 1,
      state: "published",
      root: "0".repeat(64),
      transaction: `0x${"0".repeat(64)}`,
      pubKey: makeKeyRecord(userID, key).pubKey,
      keyID: makeKeyRecord(userID, key).keyID,
      possession: "proven",
      otherKeys: [],
    });
    const answered = async (answer: unknown) => {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
      const jwt = `${part({})}.${part({ iat: 1, exp: 2 })}.c2ln`;
      const { url: baseUrl } = closing(
        await serve(({ url }, response) => response.end(JSON.stringify(url?.endsWith("/jwt") ? { jwt } : answer))),
      );
      return client({ baseUrl });
    };

    it("has root and transaction of a published key", async () => {
      expect(await (await answered(record())).record()).to.deep.equal(record());
      const { user_id, pubKey, keyID, possession, state, root, transaction } = record();
      const expected = { user_id, pubKey, keyID, possession, state, root, transaction };
      expect(await (await answered(record())).publicKeyOf(userID)).to.deep.equal(expected);
    });

    it("is refused if it is malformed, about another user, or with an invalid key", async () => {
      const other = makeKeyRecord(userID, otherKeys.publicKey);
      const point = Buffer.alloc(105, 4).toString("base64");
      const bad = [
        null,
        { ...record(), user_id: "nobody" },
        { ...record(), state: "lost" },
        { ...record(), state: undefined },
        { ...record(), pubKey: undefined },
        { ...record(), pubKey: point },
        { ...record(), pubKey: other.pubKey },
        { ...record(), keyID: other.keyID },
        { ...record(), possession: "claimed" },
        { ...record(), publishableAt: "soon" },
        { ...record(), root: "0" },
        { ...record(), root: null },
        { ...record(), transaction: "0x" },
      ];
      for (const answer of bad) {
        const user = await answered(answer);
        for (const call of [() => user.record(), () => user.publicKeyOf(userID), () => user.register(keys)]) {
          const error = await failure(call());
          expect(error, JSON.stringify(answer)).to.include({ name: "TransportError", code: "SERVICE_ANSWER_INVALID" });
        }
      }
      const stranger = await answered({ ...record(), user_id: randomUserID() });
      expect(await failure(stranger.publicKeyOf(userID))).to.include({ code: "SERVICE_ANSWER_INVALID" });
      const swapped = await answered({ ...record(), ...other });
      expect(await failure(swapped.register(keys))).to.include({ code: "SERVICE_ANSWER_INVALID" });
    });
  });

  describe("a secret", () => {
    it("is not in the client's visible state and in no error", async () => {
      const user = client({ retries: 0, timeoutMs: 200 });
      await user.record();
      const echo = JSON.stringify({
        code: "DEFECT",
        detail: `${refreshToken} ${proxy.seen.at(-1)?.headers.authorization}`,
      });
      const shown: unknown[] = [user];
      for (const fault of ["reset before", "silence", { status: 500, body: echo }] as const) {
        proxy.disturb(() => fault);
        shown.push(await failure(user.record()), await failure(client({ retries: 0, timeoutMs: 50 }).record()));
      }
      const text = inspect(shown, { depth: null, showHidden: true }) + JSON.stringify(shown);
      expect(text)
        .not.to.include(refreshToken.slice(-43))
        .and.not.to.match(/eyJ[\w-]+\./);
    });

    it("of a server is refused", () => {
      expect(() => client({ refreshToken: partner.serverToken }))
        .to.throw()
        .with.property("code", "ARGUMENT_INVALID");
    });
  });
});
