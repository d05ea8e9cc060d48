import { expect } from "chai";
import fc from "fast-check";
import { KeyrootError } from "../../../packages/keyroot/src/errors.ts";
import { PartnerClient } from "../../../packages/keyroot/src/client/partner/partnerClient.ts";
import { UserClient } from "../../../packages/keyroot/src/client/user/userClient.ts";
import { failure } from "../../support/support.ts";
import { ANSWER, keyID, publicKey, scriptedService, tokenID, userID } from "../../support/servers/scriptedService.ts";

/** Calls every operation of both clients. The service sends this response to each call. */
function operations(status: number, body: string | Uint8Array<ArrayBuffer>): (() => Promise<unknown>)[] {
  const common = scriptedService(status, body);
  const partner = new PartnerClient({ ...common, serverToken: "krs_x" });
  const user = new UserClient({ ...common, refreshToken: "kru_x" });
  return [
    () => partner.createUser(userID, "us-west-2"),
    () => partner.createUsers([{ userID, region: "us-west-2", context: "c" }]),
    () => partner.createUserRefreshToken(userID, "c"),
    () => partner.getUser(userID),
    () => partner.deactivateUser(userID),
    () => partner.eraseUser(userID),
    () => partner.listUsers().next(),
    () => partner.listRefreshTokens(userID).next(),
    () => partner.revokeRefreshToken(userID, tokenID),
    () => partner.listServerTokens().next(),
    () => partner.revokeServerToken(tokenID),
    () => partner.webhooks.create("https://a.example/"),
    () => partner.webhooks.list(),
    () => partner.webhooks.update(tokenID),
    () => partner.webhooks.pause(tokenID),
    () => partner.webhooks.resume(tokenID),
    async () => (await partner.webhooks.delete(tokenID), true),
    () => partner.webhooks.rotateSecret(tokenID),
    () => partner.webhooks.test(tokenID),
    () => partner.webhooks.listDeliveries(tokenID).next(),
    async () => (await partner.webhooks.redeliver(tokenID, tokenID), true),
    () => partner.webhooks.redeliverFailed(tokenID, 0),
    () => partner.listEvents(),
    () => partner.listAuditLog().next(),
    () => user.register({ publicKey, privateKey: 2n }),
    () => partner.publicKeyOf(userID),
    async () => (await partner.discardPublicKey(userID, keyID), true),
    async () => (await partner.approvePublicKey(userID, keyID), true),
    async () => (await user.withdraw(keyID), true),
    () => user.record(),
    () => user.unverifiedPublicKeyOf(userID),
  ];
}

/** Checks that every operation succeeds or throws a KeyrootError. */
async function withstands(status: number, body: string | Uint8Array<ArrayBuffer>): Promise<void> {
  for (const operation of operations(status, body)) {
    try {
      await operation();
    } catch (error) {
      if (!(error instanceof KeyrootError)) throw error;
    }
  }
}

describe("clients of a hostile service", () => {
  it("accept the valid response that the next tests change", async () => {
    for (const operation of operations(200, JSON.stringify(ANSWER))) expect(await operation()).to.be.ok;
  });

  it("refuse a response that would need too much memory", async () => {
    const filler = `[${"{},".repeat(2 ** 20)}{}]`;
    const large = JSON.stringify({ ...ANSWER, code: "DEFECT", filler: 0 }).replace(/"filler":0/, `"filler":${filler}`);
    expect(large.length).to.be.below(2 ** 22);
    for (const operation of operations(200, large))
      expect(await failure(operation())).to.include({ code: "SERVICE_ANSWER_INVALID" });
    // The response contains the error code of a problem, but it is not parsed.
    for (const operation of operations(400, large).slice(0, 3))
      expect(await failure(operation())).to.include({ code: "SERVICE_ERROR", status: 400 });
  });

  it("throw only a KeyrootError for any field", async () => {
    const field = fc.constantFrom(...Object.keys(ANSWER));
    const value = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom(userID, ANSWER.public_key, "__proto__", -0, 1e300, [[]], { length: 2 }, { toString: 1 }),
    );
    await fc.assert(
      fc.asyncProperty(field, value, (name, value) => withstands(200, JSON.stringify({ ...ANSWER, [name]: value }))),
      { numRuns: 100 },
    );
  });

  it("throw only a KeyrootError for any body and status", async () => {
    const body = fc.oneof(
      fc.json(),
      fc.string(),
      fc.uint8Array().map((bytes) => new Uint8Array(bytes)),
      fc
        .record({ code: fc.jsonValue(), detail: fc.jsonValue(), errors: fc.jsonValue() })
        .map((it) => JSON.stringify(it)),
    );
    const status = fc.oneof(
      fc.constantFrom(200, 201, 400, 401, 403, 429, 500, 503),
      fc.integer({ min: 206, max: 599 }),
    );
    await fc.assert(
      fc.asyncProperty(status, body, (status, body) => withstands(status === 304 ? 200 : status, body)),
      { numRuns: 100 },
    );
  });
});
