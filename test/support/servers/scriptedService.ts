import { makeKeyRecord } from "keyroot/records";
import { PartnerClient } from "@keyroot/client/partner";
import { UserClient } from "@keyroot/client/user";
import { samplePublicKeys, sampleUserID } from "../samples.ts";
import { all } from "../support.ts";

export const userID = sampleUserID(1);
const [publicKey] = samplePublicKeys as [Uint8Array];
export const tokenID = "0b8f6b5e-7c50-4a7c-9d5c-3d2b8a1f0e11";

const { pubKey, keyID } = makeKeyRecord(userID, publicKey);
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

/** A response with the fields of all operations. Every client method accepts it. */
export const ANSWER = {
  erased: 1,
  key: "deleted",
  ...fields,
  users: [fields],
  endpoints: [fields],
  deliveries: [{ ...fields, status: null, state: "failed" }],
};

const JWT = `e30.${Buffer.from('{"iat":1,"exp":2}').toString("base64url")}.c2ln`;

/** Returns options of a client. Its service exchanges tokens, and sends this response to every other operation. */
export function scriptedService(status = 200, body: string | Uint8Array<ArrayBuffer> = JSON.stringify(ANSWER)) {
  const fetch: typeof globalThis.fetch = (url) =>
    Promise.resolve(
      (url as string).endsWith("/auth/jwt")
        ? new Response(JSON.stringify({ jwt: JWT }))
        : new Response(typeof body === "string" ? answerTo(url as string, body) : body, { status }),
    );
  return { serviceUrl: "https://keys.example", bizID: "biz_1", retries: 0, fetch };
}

/** Both clients of a service, such as the one that `scriptedService` returns. */
export function clientsOf(service: ReturnType<typeof scriptedService>) {
  return {
    partner: new PartnerClient({ ...service, serverToken: "krs_x" }),
    user: new UserClient({ ...service, refreshToken: "kru_x" }),
  };
}

/** A function that takes any arguments, as in plain JavaScript. */
export type Loose = (...args: unknown[]) => Promise<unknown>;

/**
 * All operations of both clients, with valid arguments, of which the last is the options. An operation that lists items
 * returns all of them.
 */
export function operationsOf({ partner, user }: ReturnType<typeof clientsOf>) {
  const of = (client: object, name: string, ...args: unknown[]): { call: Loose; args: unknown[] } => ({
    call: async (...args: unknown[]) => {
      const answer: unknown = await (Reflect.get(client, name) as Loose).apply(client, args);
      const isList = typeof answer === "object" && answer !== null && Symbol.asyncIterator in answer;
      return isList ? all(answer as AsyncIterable<unknown>) : answer;
    },
    args: [...args, {}],
  });
  const created = { userID, region: "us-west-2", context: "phone" };
  const provision = of(partner, "provision", [created]);
  return {
    createUser: of(partner, "createUser", userID, "us-west-2"),
    createUsers: of(partner, "createUsers", [created]),
    createUserRefreshToken: of(partner, "createUserRefreshToken", userID, "phone"),
    getUser: of(partner, "getUser", userID),
    deactivateUser: of(partner, "deactivateUser", userID),
    eraseUser: of(partner, "eraseUser", userID),
    listUsers: of(partner, "listUsers"),
    listRefreshTokens: of(partner, "listRefreshTokens", userID),
    revokeRefreshToken: of(partner, "revokeRefreshToken", userID, tokenID),
    listServerTokens: of(partner, "listServerTokens"),
    revokeServerToken: of(partner, "revokeServerToken", tokenID),
    listEvents: of(partner, "listEvents"),
    listAuditLog: of(partner, "listAuditLog"),
    provision: { ...provision, args: [[created], { runId: tokenID }] as unknown[] },
    discardPublicKey: of(partner, "discardPublicKey", userID, keyID),
    approvePublicKey: of(partner, "approvePublicKey", userID, keyID),
    createWebhook: of(partner.webhooks, "create", "https://a.example/"),
    listWebhooks: of(partner.webhooks, "list"),
    updateWebhook: of(partner.webhooks, "update", tokenID),
    pauseWebhook: of(partner.webhooks, "pause", tokenID),
    resumeWebhook: of(partner.webhooks, "resume", tokenID),
    deleteWebhook: of(partner.webhooks, "delete", tokenID),
    rotateSecret: of(partner.webhooks, "rotateSecret", tokenID),
    testWebhook: of(partner.webhooks, "test", tokenID),
    listDeliveries: of(partner.webhooks, "listDeliveries", tokenID),
    redeliver: of(partner.webhooks, "redeliver", tokenID, tokenID),
    redeliverFailed: of(partner.webhooks, "redeliverFailed", tokenID, 0),
    publicKeyOfUser: of(partner, "publicKeyOf", userID),
    register: of(user, "register", { publicKey, privateKey: 2n }),
    withdraw: of(user, "withdraw", keyID),
    record: of(user, "record"),
    unverifiedPublicKeyOf: of(user, "unverifiedPublicKeyOf", userID),
  };
}

/** The answer, in which a withdrawn or discarded key is not pending. */
function answerTo(url: string, body: string): string {
  return /\/(?:withdraw|discard)$/.test(url) ? body.replace('"state":"pending"', '"state":"unregistered"') : body;
}
