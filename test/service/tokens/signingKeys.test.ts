import { expect } from "chai";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createRemoteJWKSet, jwtVerify, type JWK } from "jose";
import { ArgumentError } from "../../../packages/keyroot/src/errors.ts";
import { AccessTokens } from "../../../packages/service/src/tokens/accessTokens.ts";
import type { Databases } from "../../../packages/service/src/api/database/database.ts";
import { makeSigningKey, readSigningKeys } from "../../../packages/service/src/tokens/signingKeys.ts";
import { failure, temporaryFolder } from "../../support/support.ts";
import { expectProblem, type TestPartner } from "../../support/service/caller.ts";
import { claimsOf, headerOf } from "../../support/service/forgedTokens.ts";
import {
  describeOnEachDatabase,
  freshDatabases,
  ISSUER,
  SIGNING_JWK,
  TestService,
} from "../../support/service/support.ts";

const LIST = "/v1/authdBizSrv/users/list";
const RECORD = "/v1/authdUser/record/get";
const FOUR_HOURS = 4 * 60 * 60;

describeOnEachDatabase("access tokens", (service) => {
  let partner: TestPartner;
  before(async () => {
    partner = await service.createPartner();
  });

  it("contain the identity of a partner and the expiry", () => {
    expect(headerOf(partner.jwt)).to.deep.equal({ alg: "EdDSA", kid: SIGNING_JWK.kid, typ: "at+jwt" });
    const { iat, exp, jti, ...claims } = claimsOf(partner.jwt) as { iat: number; exp: number; jti: string };
    expect(claims).to.deep.equal({
      iss: ISSUER,
      aud: "keyroot/partner",
      sub: partner.bizID,
      biz_id: partner.bizID,
      rti: partner.tokenID,
    });
    expect(exp - iat).to.equal(FOUR_HOURS);
    expect(iat * 1000).to.be.closeTo(Date.now(), 60_000);
    expect(jti).to.match(/^[0-9a-f-]{36}$/);
  });

  it("contain the identity of a user and the expiry", async () => {
    const user = await service.createUser(partner, "eu-west-1");
    const claims = claimsOf(user.jwt);
    expect(claims).to.include({ aud: "keyroot/user", sub: user.userID, biz_id: partner.bizID, region: "eu-west-1" });
    expect(Object.keys(claims).sort()).to.deep.equal(
      ["aud", "biz_id", "exp", "iat", "iss", "jti", "region", "rti", "sub"], // The token has no other claims.
    );
  });

  it("can be verified by a standard library with the published keys", async () => {
    const keys = createRemoteJWKSet(new URL(`${service.url}/.well-known/jwks.json`));
    const { payload } = await jwtVerify(partner.jwt, keys, { issuer: ISSUER, audience: "keyroot/partner" });
    expect(payload.sub).to.equal(partner.bizID);
  });

  it("are verified with published keys that contain no private part", async () => {
    const { body } = await service.get("/.well-known/jwks.json");
    const { kty, crv, x, kid } = SIGNING_JWK;
    expect(body).to.deep.equal({ keys: [{ kty, crv, x, kid, alg: "EdDSA", use: "sig" }] });
  });

  for (const [kind, path] of [
    ["partner", LIST],
    ["user", RECORD],
  ] as const) {
    it(`of a ${kind} expire after exactly 4 hours`, async () => {
      const token = kind === "partner" ? partner.jwt : (await service.createUser(partner)).jwt;
      const expiry = (claimsOf(token)["exp"] as number) * 1000;
      service.stopClock();
      service.ahead = expiry - 3000 - service.now();
      expect((await service.post(path, {}, { token })).status).to.equal(200);
      service.ahead += 3000;
      expectProblem(await service.post(path, {}, { token }), [401, "ACCESS_TOKEN_EXPIRED"]);
    });
  }
});

describe("signing keys", () => {
  const folder = temporaryFolder();
  const write = async (content: unknown) => {
    const path = join(folder.path, "keys.json");
    await writeFile(path, typeof content === "string" ? content : JSON.stringify(content), { mode: 0o600 });
    return path;
  };

  describe("during a rotation", () => {
    let databases: Databases;
    const open = new Set<TestService>();
    before(async () => {
      databases = await freshDatabases();
    });
    after(() => databases[Symbol.asyncDispose]());
    afterEach(async () => {
      for (const service of open) await service.close();
      open.clear();
    });

    it("verify every token in use", async () => {
      const [oldKey, newKey] = [await makeSigningKey(), await makeSigningKey()];
      /** Starts a new replica with these keys in this order. */
      const replica = async (keys: JWK[]) => {
        const service = new TestService();
        open.add(service);
        return service.start(databases, { signingKeys: await readSigningKeys(await write({ keys })) });
      };
      const accepts = async (service: TestService, token: string) =>
        (await service.post(LIST, {}, { token })).status === 200;

      let [a, b] = [await replica([oldKey]), await replica([oldKey])];
      const partner = await a.createPartner();
      const issued = [partner.jwt];
      const step = async (replicaA: TestService, replicaB: TestService) => {
        [a, b] = [replicaA, replicaB];
        for (const each of [a, b]) issued.push(await each.exchange(partner.bizID, partner.refreshToken));
        for (const token of issued)
          expect([await accepts(a, token), await accepts(b, token)]).to.deep.equal([true, true]);
      };
      // The replicas restart one after the other, so their keys differ for some time.
      await step(await replica([oldKey, newKey]), b);
      await step(a, await replica([oldKey, newKey]));
      await step(await replica([newKey, oldKey]), b);
      await step(a, await replica([newKey, oldKey]));
      expect(new Set(issued.map((token) => headerOf(token)["kid"]))).to.deep.equal(new Set([oldKey.kid, newKey.kid]));

      const last = await replica([newKey]);
      for (const token of issued) expect(await accepts(last, token)).to.equal(headerOf(token)["kid"] === newKey.kid);
      // After four hours, tokens of the old key have expired.
      last.ahead = FOUR_HOURS * 1000;
      const { body } = await last.post(LIST, {}, { token: issued.at(-1) ?? "" });
      expect(body["code"]).to.equal("ACCESS_TOKEN_EXPIRED");
      const { keys } = (await last.get("/.well-known/jwks.json")).body as { keys: JWK[] };
      expect(keys.map(({ kid }) => kid)).to.deep.equal([newKey.kid]);
    });
  });

  describe("in a file", () => {
    it("sign with the first valid key", async () => {
      const keys = [await makeSigningKey(), await makeSigningKey()];
      const read = await readSigningKeys(await write({ keys }));
      const tokens = new AccessTokens(read, "https://service.test");
      const token = tokens.issue({ kind: "partner", bizID: "biz_1", tokenID: "1" }, 0);
      expect(headerOf(token)["kid"]).to.equal(keys[0]?.kid);
      expect([...read.verifying.keys()]).to.deep.equal(keys.map(({ kid }) => kid));
    });

    const d = SIGNING_JWK.d ?? "";
    const bad: [what: string, content: unknown][] = [
      ["is not JSON", `{"keys":[{"d":"${d}"`],
      ["is empty", ""],
      ["contains null", "null"],
      ["contains an array", [SIGNING_JWK]],
      ["contains no keys", { keys: [] }],
      ["contains no list of keys", { keys: SIGNING_JWK }],
      ["contains a key that is null", { keys: [null] }],
      ["contains a string as key", { keys: [d] }],
      ["contains a public key", { keys: [{ ...SIGNING_JWK, d: undefined }] }],
      ["contains a key of a different curve", { keys: [{ ...SIGNING_JWK, crv: "X25519" }] }],
      ["contains a symmetric secret", { keys: [{ kty: "oct", k: d }] }],
      ["contains a key twice", { keys: [SIGNING_JWK, SIGNING_JWK] }],
      ["contains nine keys", { keys: Array.from({ length: 9 }, () => SIGNING_JWK) }],
      ["contains a private part that is too short", { keys: [{ ...SIGNING_JWK, d: d.slice(0, 20) }] }],
      ["contains a number as private part", { keys: [{ ...SIGNING_JWK, d: 1 }] }],
    ];
    for (const [what, content] of bad) {
      it(`are rejected without revealing the file if it ${what}`, async () => {
        const path = await write(content);
        const error = await failure(readSigningKeys(path));
        expect(error).to.be.instanceOf(ArgumentError).with.property("code", "CONFIGURATION_INVALID");
        const { message } = error as ArgumentError;
        expect(message).to.include(path);
        for (let i = 0; i + 8 <= d.length; i++) expect(message).not.to.include(d.slice(i, i + 8));
      });
    }

    it("are rejected if their private and public parts do not match", async () => {
      const other = await makeSigningKey();
      const error = await failure(readSigningKeys(await write({ keys: [{ ...SIGNING_JWK, d: other.d }] })));
      expect(error).to.be.instanceOf(ArgumentError).with.property("code", "CONFIGURATION_INVALID");
    });

    it("are rejected if the file does not exist", async () => {
      const error = await failure(readSigningKeys(join(folder.path, "none.json")));
      expect(error).to.be.instanceOf(ArgumentError).with.property("code", "CONFIGURATION_INVALID");
    });
  });
});
