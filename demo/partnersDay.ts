import { ANSWER } from "keyroot/client";
import { checkOptions } from "keyroot/client";
import { operationCaller } from "keyroot/client";
import { InvariantError } from "keyroot/errors";
import type { KeyRecord } from "keyroot/identity";
import { generateKeyPair } from "keyroot/identity";
import { deriveUserID } from "keyroot/identity";
import { PartnerClient } from "keyroot/partner";
import type { Region } from "keyroot/identity";
import type { ServiceNote } from "@keyroot/operator/stack";
import { UserClient } from "keyroot/user";

/** How many users of the sample partner live where: an even and an odd number, so that their trees differ in shape. */
const USERS: Record<Region, number> = { "us-west-2": 12, "eu-west-1": 13 };

/** A batch of keys that the service published. */
export interface PublishedBatch {
  /** 64 hex digits. */
  root: string;
  users: number;
  block: number;
}

/** What a partner has by the evening. */
export interface PartnersDay {
  bizId: string;
  serverToken: string;
  users: { userID: string; region: Region; app: UserClient }[];
}

/** The operator's side of the service. */
export class Operator {
  readonly #post;
  readonly #adminToken: string;

  constructor({ baseUrl, adminToken }: ServiceNote) {
    this.#post = operationCaller(checkOptions({ baseUrl, bizId: "operator", timeoutMs: 60_000 }));
    this.#adminToken = adminToken;
  }

  /** A partner company with a token for its server. */
  async admitPartner(name: string): Promise<{ bizId: string; serverToken: string }> {
    const partner = ANSWER.fields("partner", await this.#ask("partners/create", { name }), ["biz_id"]);
    const bizId = ANSWER.text("biz_id", partner.biz_id);
    const made = ANSWER.fields("token", await this.#ask("serverTokens/create", { biz_id: bizId }), ["token"]);
    return { bizId, serverToken: ANSWER.secret("token", made.token, /^krs_/) };
  }

  /** The keys that users registered go out. */
  async publish(): Promise<PublishedBatch[]> {
    const answer = ANSWER.fields("The answer", await this.#ask("publish", {}), ["batches"]);
    return ANSWER.list("batches", answer.batches, 1000, (where, batch) => {
      const { root, users, block } = ANSWER.fields(where, batch, ["root", "users", "block"]);
      return {
        root: ANSWER.text(where, root, /^[0-9a-f]{64}$/),
        users: ANSWER.count(where, users),
        block: ANSWER.count(where, block),
      };
    });
  }

  #ask(operation: string, body: object): Promise<unknown> {
    return this.#post(`/v1/admin/${operation}`, body, { accessToken: this.#adminToken });
  }
}

/**
 * A partner's day: its server creates a shadow user and a refresh token for each of its own users, and each user's app
 * makes a key pair and registers the public key.
 */
export async function spendPartnersDay(service: ServiceNote, signal: AbortSignal): Promise<PartnersDay> {
  const { baseUrl } = service;
  const { bizId, serverToken } = await new Operator(service).admitPartner("Sample partner");
  const partner = new PartnerClient({ baseUrl, bizId, serverToken });
  // The partner knows its users by names of its own; who reads the chain must not be able to guess them.
  const secret = crypto.getRandomValues(new Uint8Array(32));
  const wanted = Object.entries(USERS).flatMap(([region, count]) =>
    Array.from({ length: count }, (_, i) => ({
      userID: deriveUserID(secret, `${region} customer ${i}`),
      region: region as Region,
    })),
  );
  const day: PartnersDay = { bizId, serverToken, users: [] };
  for await (const outcome of partner.provision(wanted, { runId: crypto.randomUUID(), context: "phone", signal })) {
    if ("error" in outcome) throw outcome.error;
    const { user, token: refreshToken } = outcome;
    const app = new UserClient({ baseUrl, bizId, refreshToken });
    const { state } = await app.register(generateKeyPair().publicKey, { signal });
    if (state !== "pending") throw new InvariantError("DEMO_FAILED", `A key just registered is ${state}, not pending.`);
    day.users.push({ ...user, app });
  }
  return day;
}

/** The keys of all users, as the service hands them out to one of them. */
export async function keysAsHandedOut({ users }: PartnersDay, signal: AbortSignal): Promise<KeyRecord[]> {
  const [first] = users;
  if (first === undefined) return [];
  return Promise.all(
    users.map(async ({ userID }) => {
      const { pubKey, keyID } = await first.app.publicKeyOf(userID, { signal });
      return { userID, pubKey, keyID };
    }),
  );
}
