import { expect } from "chai";
import fc from "fast-check";
import { KeyrootError } from "../../../packages/keyroot/src/errors.ts";
import { makeKeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import { PartnerClient } from "../../../packages/keyroot/src/client/partner/partnerClient.ts";
import { UserClient } from "../../../packages/keyroot/src/client/user/userClient.ts";
import { sampleUserID, samplePublicKeys } from "../../../fixtures/samples.ts";

const userID = sampleUserID(1);
const [publicKey] = samplePublicKeys as [Uint8Array];
const { pubKey, keyID } = makeKeyRecord(userID, publicKey);
const tokenID = "0b8f6b5e-7c50-4a7c-9d5c-3d2b8a1f0e11";
const note = { token_id: tokenID, context: "c", name: "n", created: 1, revoked: null };

/** All that any operation's answer has: each client reads what it asked for. */
const GOOD = {
  ...{ status: 201, user_id: userID, bucket: "b", region: "us-west-2", stage: "s", salt: "0".repeat(32) },
  ...{ token: `kru_us-west-2_${"x".repeat(43)}`, tokens: [note], next: null, ...note, state: "pending", pubKey, keyID },
};
const ANSWER = { ...GOOD, users: [GOOD] };
const JWT = `e30.${Buffer.from('{"iat":1,"exp":2}').toString("base64url")}.c2ln`;

/** A client's every operation, against a service that answers so. */
function operations(status: number, body: string | Uint8Array<ArrayBuffer>): (() => Promise<unknown>)[] {
  const fetch = (url: unknown) =>
    Promise.resolve(
      String(url).endsWith("/auth/jwt") ? new Response(JSON.stringify({ jwt: JWT })) : new Response(body, { status }),
    );
  const common = {
    baseUrl: "https://keys.example",
    bizId: "biz_1",
    retries: 0,
    fetch: fetch as typeof globalThis.fetch,
  };
  const partner = new PartnerClient({ ...common, serverToken: "krs_x" });
  const user = new UserClient({ ...common, refreshToken: "kru_x" });
  return [
    () => partner.createUser(userID, "us-west-2"),
    () => partner.createRefreshToken(userID, "c"),
    () => partner.getUser(userID),
    () => partner.listUsers().next(),
    () => partner.listRefreshTokens(userID),
    () => partner.revokeRefreshToken(userID, tokenID),
    () => partner.listServerTokens(),
    () => partner.revokeServerToken(tokenID),
    () => user.register(publicKey),
    () => user.record(),
    () => user.publicKeyOf(userID),
  ];
}

/** Whatever the answer, an operation is done or throws an error that has a code; none of it is a defect here. */
async function withstands(status: number, body: string | Uint8Array<ArrayBuffer>): Promise<void> {
  for (const operation of operations(status, body)) {
    try {
      await operation();
    } catch (error) {
      if (!(error instanceof KeyrootError)) throw error;
    }
  }
}

describe("a hostile service", () => {
  it("is taken at its word where its answers are as they should be, which shows what the next ones are made of", async () => {
    for (const operation of operations(200, JSON.stringify(ANSWER))) expect(await operation()).to.be.ok;
  });

  it("gets no further than an error with a code, whatever stands in the place of a field", async () => {
    const field = fc.constantFrom(...Object.keys(ANSWER));
    const value = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom(userID, pubKey, "__proto__", -0, 1e300, [[]], { length: 2 }),
    );
    await fc.assert(
      fc.asyncProperty(field, value, (name, value) => withstands(200, JSON.stringify({ ...ANSWER, [name]: value }))),
      { numRuns: 100 },
    );
  });

  it("gets no further than an error with a code, whatever it answers with whatever status", async () => {
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
