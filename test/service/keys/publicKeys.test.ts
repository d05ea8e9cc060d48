import { rowsOf } from "../../../packages/service/src/api/database/database.ts";
import { expect } from "chai";
import { sql } from "drizzle-orm";
import { setTimeout as sleep } from "node:timers/promises";
import type { KeyPair } from "../../../packages/keyroot/src/identity/newPublicKey.ts";
import { makeKeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import { add, BASE, encode, IDENTITY, multiply, N, P, pointsOfSmallOrder } from "../../support/data/curve41417.ts";
import { sampleKeyPairs, samplePublicKeys, sha256 } from "../../support/samples.ts";
import { type Answer, expectProblem, type TestPartner, type TestUser } from "../../support/service/caller.ts";
import { markPublished } from "../../support/service/markPublished.ts";
import { describeOnEachDatabase, serviceOnPostgres } from "../../support/service/support.ts";

const CHALLENGE = "/v1/authdUser/publicKey/challenge";
const REGISTER = "/v1/authdUser/publicKey/register";
const RECORD = "/v1/authdUser/record/get";
const OF_OTHER = "/v1/authdUser/publicKey/get";
const USER_FIELDS = ["bucket", "created", "region", "salt", "stage", "user_id"];

const KEY_FIELDS = ["key_id", "possession", "public_key"];

const [KEYS] = sampleKeyPairs as [KeyPair];
const [KEY, OTHER_KEY] = samplePublicKeys.map((key) => {
  const { pubKey, keyID } = makeKeyRecord("y".repeat(32), key);
  return { public_key: pubKey, key_id: keyID };
}) as [Registration, Registration];

interface Registration {
  public_key: string;
  key_id: string;
}

describeOnEachDatabase("public keys", (service) => {
  let partner: TestPartner;
  let user: TestUser;
  const register = (keys: KeyPair) => service.registerKey(user, keys);
  const record = () => service.done(RECORD, {}, { token: user.jwt });
  const ofOther = (userID: string, { jwt }: TestUser): Promise<Answer> =>
    service.post(OF_OTHER, { user_id: userID }, { token: jwt });

  before(async () => {
    partner = await service.createPartner();
  });
  beforeEach(async () => {
    user = await service.createUser(partner, "eu-west-1");
  });

  describe("a user's record", () => {
    it("has no key before registration", async () => {
      const body = await record();
      expect(Object.keys(body).sort()).to.deep.equal([...USER_FIELDS, "conflicting_keys", "state"].sort());
      expect(body).to.include({ user_id: user.userID, region: "eu-west-1", state: "unregistered" });
    });

    it("has the key, its state, root and transaction after registration", async () => {
      await register(KEYS);
      const pending = await record();
      expect(Object.keys(pending).sort()).to.deep.equal(
        [...USER_FIELDS, ...KEY_FIELDS, "conflicting_keys", "hold_ends_at", "state"].sort(),
      );
      expect(pending).to.include({ ...KEY, state: "pending", possession: "proven" });

      const [root, transactionHash] = [sha256(user.userID), `0x${sha256("transaction")}`];
      const userIDs = [user.userID];
      await service.publications.markSubmitted("eu-west-1", root, userIDs, Date.now());
      const later = Object.fromEntries(Object.entries(pending).filter(([field]) => field !== "hold_ends_at"));
      expect(await record()).to.deep.equal({ ...later, state: "submitted", root });
      await markPublished(service.databases, { root, userIDs, transactionHash, region: "eu-west-1" });
      expect(await record()).to.deep.equal({ ...later, state: "published", root, transaction: transactionHash });
    });
  });

  describe("registration", () => {
    it("returns the key's record", async () => {
      const answer = await register(KEYS);
      expect(answer.status).to.equal(200);
      expect(answer.body).to.deep.equal(await record());
    });

    it("has no effect if the same key is registered again", async () => {
      const { text } = await register(KEYS);
      service.ahead = 60_000;
      const again = await register(KEYS);
      expect([again.status, again.text]).to.deep.equal([200, text]);
    });

    const [first = new Uint8Array()] = samplePublicKeys;
    const changed = (index: number, byte: number) => Uint8Array.from(first).fill(byte, index, index + 1);
    const [, ofOrderTwo = IDENTITY, ofOrderFour = IDENTITY, , ofOrderEight = IDENTITY] = pointsOfSmallOrder();
    const base = { x: BASE.x, y: BASE.y };
    const refusals: [what: string, key: unknown, code: string][] = [
      ["a key of 104 bytes", keyOf(first.subarray(0, 104)), "PUBLIC_KEY_LENGTH"],
      ["an empty key", keyOf(new Uint8Array()), "PUBLIC_KEY_LENGTH"],
      ["a key of 108 bytes", keyOf(Uint8Array.of(...first, 1, 2, 3)), "TEXT_TOO_LONG"],
      ["the first byte of a compressed key", keyOf(changed(0, 2)), "PUBLIC_KEY_FORMAT"],
      ["a coordinate equal to the field's prime", keyOf(encode({ x: P, y: 34n })), "PUBLIC_KEY_FORMAT"],
      ["a coordinate greater than the field's prime", keyOf(encode({ x: P + base.x, y: base.y })), "PUBLIC_KEY_FORMAT"],
      ["a point that is not on the curve", keyOf(changed(104, (first[104] ?? 0) ^ 1)), "PUBLIC_KEY_NOT_ON_CURVE"],
      ["the identity", keyOf(encode(IDENTITY)), "PUBLIC_KEY_SMALL_ORDER"],
      ["a point of order 2", keyOf(encode(ofOrderTwo)), "PUBLIC_KEY_SMALL_ORDER"],
      ["a point of order 4", keyOf(encode(ofOrderFour)), "PUBLIC_KEY_SMALL_ORDER"],
      ["a point of order 8", keyOf(encode(ofOrderEight)), "PUBLIC_KEY_SMALL_ORDER"],
      ["a point of order 2n", keyOf(encode(add(multiply(5n, base), ofOrderTwo))), "PUBLIC_KEY_NOT_PRIME_ORDER"],
      ["a point of order 8n", keyOf(encode(add(multiply(N - 1n, base), ofOrderEight))), "PUBLIC_KEY_NOT_PRIME_ORDER"],
      ["the id of a different key", { ...KEY, key_id: OTHER_KEY.key_id }, "KEY_ID_MISMATCH"],
      ["an id of 15 bytes", { ...KEY, key_id: Buffer.alloc(15).toString("base64") }, "KEY_ID_INVALID"],
      ["a key without an id", { public_key: KEY.public_key }, "FIELD_MISSING"],
      ["a key that is not base64", { ...KEY, public_key: `${KEY.public_key.slice(0, -1)}-` }, "BASE64_INVALID"],
      ["a key in hex", { ...KEY, public_key: Buffer.from(first).toString("hex").slice(0, 139) }, "BASE64_INVALID"],
      ["an additional user id", { ...KEY, user_id: "y".repeat(32) }, "FIELD_UNKNOWN"],
    ];
    for (const [what, key, code] of refusals) {
      it(`rejects ${what} with ${code}`, async () => {
        for (const path of [CHALLENGE, REGISTER]) {
          // The subgroup is checked for challenges, and keys need a challenge to be registered.
          const isLate = path === REGISTER && code === "PUBLIC_KEY_NOT_PRIME_ORDER";
          const refused = await service.post(path, key, { token: user.jwt });
          expectProblem(refused, [400, isLate ? "POSSESSION_REQUIRED" : code]);
        }
        expect(await record()).to.include({ state: "unregistered" });
      });
    }

    it("accepts a key that a different implementation made", async () => {
      const [, , keys = KEYS] = sampleKeyPairs;
      expect((await register(keys)).status).to.equal(200);
    });
  });

  describe("another user's public keys", () => {
    it("are returned to users of the same partner in any region", async () => {
      await register(KEYS);
      const other = await service.createUser(partner, "us-west-2");
      const { status, body } = await ofOther(user.userID, other);
      const { hold_ends_at } = await record();
      const key = { user_id: user.userID, ...KEY, state: "pending", possession: "proven", hold_ends_at };
      expect([status, body]).to.deep.equal([200, key]);
    });

    it("are unknown before registration", async () => {
      const other = await service.createUser(partner, "us-west-2");
      expectProblem(await ofOther(user.userID, other), [404, "PUBLIC_KEY_UNKNOWN"]);
    });

    it("are hidden from other partners' users", async () => {
      await register(KEYS);
      const stranger = await service.createUser(await service.createPartner());
      const answers = [await ofOther(user.userID, stranger), await ofOther("y".repeat(32), stranger)];
      for (const answer of answers) expectProblem(answer, [404, "USER_UNKNOWN"]);
      const texts = answers.map(({ text, body }) => text.replace(body["request_id"] as string, ""));
      expect(texts[0]).to.equal(texts[1]);
    });
  });
});

describe("removal of a key that is registered at the same time", () => {
  const service = serviceOnPostgres();

  it("does not remove the key", async () => {
    const user = await service.createUser(await service.createPartner());
    const { home } = service.databases;
    // A removal waits after it has found no key, until the test releases the lock.
    await home.execute(
      sql`create function wait_for_lock() returns trigger as 'begin perform pg_advisory_xact_lock(1); return null; end' language plpgsql`,
    );
    await home.execute(
      sql`create trigger wait after delete on public_keys for each statement execute function wait_for_lock()`,
    );
    const removal = await home.transaction(async (transaction) => {
      await transaction.execute(sql`select pg_advisory_xact_lock(1)`);
      const { key_id } = KEY;
      const answer = service.post("/v1/authdUser/publicKey/withdraw", { key_id }, { token: user.jwt });
      const waiting = () => home.execute(sql`select 1 from pg_locks where locktype = 'advisory' and not granted`);
      while (rowsOf(await waiting()).length === 0) await sleep(5);
      await service.registerKey(user, KEYS);
      return { answer };
    });
    expectProblem(await removal.answer, [404, "PUBLIC_KEY_UNKNOWN"]);
    expect(await service.done(RECORD, {}, { token: user.jwt })).to.include({ ...KEY, state: "pending" });
  });
});

/** Returns the request body that registers a key of these bytes. */
function keyOf(bytes: Uint8Array): Registration {
  const key_id = Buffer.from(sha256(bytes).slice(0, 32), "hex").toString("base64");
  return { public_key: Buffer.from(bytes).toString("base64"), key_id };
}
