import { makeKeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import { samplePublicKeys, sampleUserID } from "../samples.ts";

export const userID = sampleUserID(1);
export const [publicKey] = samplePublicKeys as [Uint8Array];
export const tokenID = "0b8f6b5e-7c50-4a7c-9d5c-3d2b8a1f0e11";

const { pubKey, keyID } = makeKeyRecord(userID, publicKey);
export { keyID };
const metadata = { token_id: tokenID, context: "c", name: "n", created: 1, revoked: null, last_used: 2 };
const fields = {
  deactivated: 1,
  ...{ status: 201, user_id: userID, bucket: "b", region: "us-west-2", stage: "s", salt: "0".repeat(32) },
  ...{ token: `kru_us-west-2_${"x".repeat(43)}`, tokens: [metadata], next: null, ...metadata },
  ...{ state: "pending", public_key: pubKey, key_id: keyID, possession: "proven", hold_ends_at: 5 },
  conflicting_keys: [{ public_key: pubKey, key_id: keyID, at: 1, withdrawn: true }],
  ...{ endpoint_id: tokenID, url: "https://a.example/", types: ["key.published"], paused: null, next_attempt: null },
  ...{ secret: `whsec_${"A".repeat(43)}=`, previous_until: 3, event_id: tokenID, delivered: true, error: null },
  ...{ duration: 1, queued: 1, type: "key.published", attempts: 1, last_attempt: 2 },
  events: [
    {
      type: "registered",
      key_id: keyID,
      at: 1,
      after_withdrawal: false,
      id: tokenID,
      data: {},
    },
  ],
  ...{ cursor: "e30", enabled: true },
  entries: [
    {
      ...{ id: tokenID, at: 1, action: "user.created", biz_id: "biz_1", user_id: userID, data: {} },
      ...{ actor: { kind: "partner", id: tokenID, name: null, token_id: tokenID }, request_id: "r", address: "::1" },
    },
  ],
};

/** One answer with the fields of the answers to all operations: every client method accepts it. */
export const ANSWER = {
  erased: 1,
  key: "deleted",
  ...fields,
  users: [fields],
  endpoints: [fields],
  deliveries: [{ ...fields, status: null, state: "failed" }],
};

const JWT = `e30.${Buffer.from('{"iat":1,"exp":2}').toString("base64url")}.c2ln`;

/** Options of a client whose service exchanges tokens, and sends this answer to every other operation. */
export function scriptedService(status = 200, body: string | Uint8Array<ArrayBuffer> = JSON.stringify(ANSWER)) {
  const fetch: typeof globalThis.fetch = (url) =>
    Promise.resolve(
      (url as string).endsWith("/auth/jwt")
        ? new Response(JSON.stringify({ jwt: JWT }))
        : new Response(typeof body === "string" ? answerTo(url as string, body) : body, { status }),
    );
  return { serviceUrl: "https://keys.example", bizID: "biz_1", retries: 0, fetch };
}

/** The answer, in which a withdrawn or discarded key is not pending. */
function answerTo(url: string, body: string): string {
  return /\/(?:withdraw|discard)$/.test(url) ? body.replace('"state":"pending"', '"state":"unregistered"') : body;
}
