import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { and, asc, count, eq, gt, isNull, lt, ne, or } from "../api/database/drizzle.ts";
import { WebhookSecret } from "@keyroot/operator/shared";
import { ArgumentError, ServiceError } from "../api/base/errors.ts";
import type { SealedSecret, WebhookKeys } from "./webhookKeys.ts";
import { type Action, type EventType, recordChange } from "../auditLog/recordChange.ts";
import { type Author, SERVICE } from "../api/base/author.ts";
import { isAnyOf } from "../api/database/columns.ts";
import type { Database } from "../api/database/database.ts";
import {
  checkSameRequest,
  keyReused,
  type RequestOptions,
  REPEATABLE_MS,
  requestValues,
  type RequestValues,
} from "../api/database/idempotency.ts";
import { lockPartner } from "../partners/tables.ts";
import { webhookEndpoints, webhookSecrets } from "./tables.ts";

/** Maximum number of endpoints per partner. */
export const MAX_ENDPOINTS = 10;
/** Maximum number of secrets that sign deliveries to an endpoint. */
const MAX_SECRETS = 5;
/** Time in ms for which a replaced secret still signs. */
const OVERLAP_MS = 24 * 60 * 60 * 1000;

export type WebhookEndpoint = typeof webhookEndpoints.$inferSelect;

/** Stores partners' endpoints and the endpoints' secrets in the home database. */
export class WebhookEndpointStore {
  readonly #home: Database;
  readonly #keys: WebhookKeys | undefined;

  /** @param keys the keys that encrypt stored secrets. Undefined if the service has no webhooks */
  constructor(home: Database, keys: WebhookKeys | undefined) {
    this.#home = home;
    this.#keys = keys;
  }

  /** Whether the service has webhooks. */
  get enabled(): boolean {
    return this.#keys !== undefined;
  }

  /**
   * Checks that all stored secrets can be decrypted. Secrets that are encrypted with an earlier key are encrypted again
   * with the first key.
   * @throws ArgumentError CONFIGURATION_INVALID
   */
  async checkKeys(): Promise<void> {
    const used = await this.#home.selectDistinct({ keyID: webhookSecrets.keyID }).from(webhookSecrets);
    const missing = used.filter(({ keyID }) => this.#keys?.has(keyID) !== true).map(({ keyID }) => keyID);
    if (missing.length > 0) {
      const message =
        this.#keys === undefined
          ? "Partners have webhook endpoints, but KEYROOT_WEBHOOK_KEYS is not set. Set it to the file of keys that encrypt the endpoints' secrets."
          : `The file in KEYROOT_WEBHOOK_KEYS does not contain these keys of stored webhook secrets: ${missing.join(", ")}. Add each key as another line.`;
      throw new ArgumentError("CONFIGURATION_INVALID", message);
    }
    const { sealingID } = this.#keys ?? { sealingID: "" };
    if (used.some(({ keyID }) => keyID !== sealingID)) await resealSecrets(this.#home, this.#requireKeys());
  }

  /**
   * Adds an endpoint, or returns the endpoint that an earlier request with the same Idempotency-Key added.
   * @throws ServiceError WEBHOOKS_DISABLED, WEBHOOK_LIMIT_REACHED, IDEMPOTENCY_KEY_REUSED
   */
  async create(
    bizID: string,
    { url, types }: Pick<WebhookEndpoint, "url" | "types">,
    { now, author, repeatable }: RequestOptions,
  ): Promise<{ endpoint: WebhookEndpoint; secret: string }> {
    const request = requestValues(`${bizID}\nwebhook`, repeatable);
    const endpoint = { endpointID: randomUUID(), bizID, url, types, created: now, paused: null };
    const made = await this.#make(endpoint.endpointID);
    const added = await this.#home.transaction(async (transaction) => {
      await lockPartner(transaction, bizID);
      const earlier = await this.#findByRequest(transaction, request);
      if (earlier !== undefined) return earlier;
      const [owned] = await transaction
        .select({ endpoints: count() })
        .from(webhookEndpoints)
        .where(eq(webhookEndpoints.bizID, bizID));
      if ((owned?.endpoints ?? 0) >= MAX_ENDPOINTS) {
        const message = `You already have the maximum of ${MAX_ENDPOINTS} webhook endpoints. Delete one first.`;
        throw new ServiceError(409, "WEBHOOK_LIMIT_REACHED", message);
      }
      await transaction.insert(webhookEndpoints).values(endpoint);
      const { endpointID } = endpoint;
      await transaction.insert(webhookSecrets).values({ ...made.row, endpointID, created: now, ...request });
      await record(transaction, author, "webhook.created", endpoint, now);
      return undefined;
    });
    if (added === undefined) return { endpoint, secret: made.secret };
    const found = await this.get(bizID, added.endpointID);
    if (found === undefined) throw keyReused("its endpoint was deleted");
    return { endpoint: found, secret: await this.#open(added, now) };
  }

  /** Lists a partner's endpoints in the order of creation. */
  list(bizID: string): Promise<WebhookEndpoint[]> {
    const { created, endpointID } = webhookEndpoints;
    return this.#home
      .select()
      .from(webhookEndpoints)
      .where(eq(webhookEndpoints.bizID, bizID))
      .orderBy(asc(created), asc(endpointID));
  }

  /** @returns undefined if the partner has no such endpoint */
  async get(bizID: string, endpointID: string): Promise<WebhookEndpoint | undefined> {
    const [found] = await this.#home.select().from(webhookEndpoints).where(isOwn(bizID, endpointID));
    return found;
  }

  /** Finds endpoints by endpoint ids or by partner ids. */
  async find(by: "endpointID" | "bizID", ids: readonly string[]): Promise<WebhookEndpoint[]> {
    if (ids.length === 0) return [];
    return this.#home.select().from(webhookEndpoints).where(isAnyOf(webhookEndpoints[by], ids));
  }

  /** @returns undefined if the partner has no such endpoint */
  async update(
    bizID: string,
    endpointID: string,
    { url, types }: { url?: string | undefined; types?: EventType[] | null | undefined },
    now: number,
    author: Author,
  ): Promise<WebhookEndpoint | undefined> {
    return this.#home.transaction(async (transaction) => {
      const before = await lock(transaction, bizID, endpointID);
      const after = before && { ...before, ...(url !== undefined && { url }), ...(types !== undefined && { types }) };
      if (after === undefined || isDeepStrictEqual(before, after)) return after;
      await transaction.update(webhookEndpoints).set(after).where(isOwn(bizID, endpointID));
      await record(transaction, author, "webhook.changed", after, now);
      return after;
    });
  }

  /**
   * Pauses or resumes an endpoint. Repeating the call has no effect.
   * @returns undefined if the partner has no such endpoint
   */
  async setPaused(
    { bizID, endpointID }: Pick<WebhookEndpoint, "bizID" | "endpointID">,
    pause: boolean,
    now: number,
    author: Author = SERVICE,
  ): Promise<WebhookEndpoint | undefined> {
    return this.#home.transaction(async (transaction) => {
      const before = await lock(transaction, bizID, endpointID);
      if (before === undefined || (before.paused !== null) === pause) return before;
      const after = { ...before, paused: pause ? now : null };
      await transaction.update(webhookEndpoints).set(after).where(isOwn(bizID, endpointID));
      await record(transaction, author, pause ? "webhook.paused" : "webhook.resumed", after, now);
      return after;
    });
  }

  /** Deletes an endpoint. Repeating the call has no effect. */
  async delete(bizID: string, endpointID: string, now: number, author: Author): Promise<void> {
    await this.#home.transaction(async (transaction) => {
      const deleted = await transaction.delete(webhookEndpoints).where(isOwn(bizID, endpointID)).returning();
      if (deleted.length > 0) await record(transaction, author, "webhook.deleted", { bizID, endpointID }, now);
    });
  }

  /**
   * Replaces an endpoint's secret. Earlier secrets also sign deliveries for another 24 hours.
   * @returns undefined if the partner has no such endpoint
   * @throws ServiceError WEBHOOKS_DISABLED, WEBHOOK_LIMIT_REACHED, IDEMPOTENCY_KEY_REUSED
   */
  async rotateSecret(
    bizID: string,
    endpointID: string,
    { now, author, repeatable }: RequestOptions,
  ): Promise<{ secret: string; previousUntil: number } | undefined> {
    const request = requestValues(`${bizID}\nwebhook`, repeatable);
    const made = await this.#make(endpointID);
    const found = await this.#home.transaction(async (transaction) => {
      const endpoint = await lock(transaction, bizID, endpointID);
      if (endpoint === undefined) return "unknown";
      const earlier = await this.#findByRequest(transaction, request);
      if (earlier !== undefined) return earlier;
      const ofEndpoint = eq(webhookSecrets.endpointID, endpointID);
      await transaction.delete(webhookSecrets).where(and(ofEndpoint, lt(webhookSecrets.until, now)));
      const [active] = await transaction.select({ secrets: count() }).from(webhookSecrets).where(ofEndpoint);
      if ((active?.secrets ?? 0) >= MAX_SECRETS) {
        const message = `The endpoint already has the maximum of ${MAX_SECRETS} secrets. Wait up to 24 hours until the oldest secret ends.`;
        throw new ServiceError(409, "WEBHOOK_LIMIT_REACHED", message);
      }
      await transaction
        .update(webhookSecrets)
        .set({ until: now + OVERLAP_MS })
        .where(and(ofEndpoint, isNull(webhookSecrets.until)));
      await transaction.insert(webhookSecrets).values({ ...made.row, endpointID, created: now, ...request });
      await record(transaction, author, "webhook.secretRotated", endpoint, now);
      return undefined;
    });
    if (found === "unknown") return undefined;
    if (found === undefined) return { secret: made.secret, previousUntil: now + OVERLAP_MS };
    return { secret: await this.#open(found, now), previousUntil: found.created + OVERLAP_MS };
  }

  /** Lists the secrets that sign an endpoint's deliveries, newest first. */
  async secretsOf(endpointID: string, now: number): Promise<WebhookSecret[]> {
    const rows = await this.#home
      .select()
      .from(webhookSecrets)
      .where(
        and(eq(webhookSecrets.endpointID, endpointID), or(isNull(webhookSecrets.until), gt(webhookSecrets.until, now))),
      );
    const newest = rows.sort((a, b) => b.created - a.created);
    return Promise.all(newest.map(async (row) => new WebhookSecret(await this.#requireKeys().open(row, endpointID))));
  }

  async dropEnded(now: number): Promise<void> {
    await this.#home.delete(webhookSecrets).where(lt(webhookSecrets.until, now));
  }

  async #make(endpointID: string): Promise<{ secret: string; row: SealedSecret & { secretID: string } }> {
    const secret = WebhookSecret.make();
    return { secret, row: { secretID: randomUUID(), ...(await this.#requireKeys().seal(secret, endpointID)) } };
  }

  /** @throws ServiceError IDEMPOTENCY_KEY_REUSED */
  async #findByRequest(transaction: Database, request: RequestValues) {
    const { requestHash } = request;
    if (requestHash === null) return undefined;
    const [found] = await transaction.select().from(webhookSecrets).where(eq(webhookSecrets.requestHash, requestHash));
    if (found !== undefined) checkSameRequest(found, request);
    return found;
  }

  /** Decrypts a secret for a repeated request. @throws ServiceError IDEMPOTENCY_KEY_REUSED */
  async #open(row: typeof webhookSecrets.$inferSelect, now: number): Promise<string> {
    if (row.created < now - REPEATABLE_MS) throw keyReused("its secret is older than 24 hours");
    return this.#requireKeys().open(row, row.endpointID);
  }

  /** @throws ServiceError WEBHOOKS_DISABLED */
  #requireKeys(): WebhookKeys {
    if (this.#keys !== undefined) return this.#keys;
    const message = "This service sends no webhooks, because its operator has not set KEYROOT_WEBHOOK_KEYS.";
    throw new ServiceError(409, "WEBHOOKS_DISABLED", message);
  }
}

function isOwn(bizID: string, endpointID: string) {
  return and(eq(webhookEndpoints.bizID, bizID), eq(webhookEndpoints.endpointID, endpointID));
}

/** @returns undefined if the partner has no such endpoint */
async function lock(transaction: Database, bizID: string, endpointID: string): Promise<WebhookEndpoint | undefined> {
  const [found] = await transaction.select().from(webhookEndpoints).where(isOwn(bizID, endpointID)).for("update");
  return found;
}

function record(
  transaction: Database,
  author: Author,
  action: Action,
  { bizID, endpointID }: Pick<WebhookEndpoint, "bizID" | "endpointID">,
  now: number,
): Promise<void> {
  return recordChange(transaction, author, { action, at: now, partner: bizID, data: { endpoint_id: endpointID } });
}

/** Encrypts all webhook secrets of earlier keys again, with the key on the file's first line. */
async function resealSecrets(home: Database, keys: WebhookKeys): Promise<void> {
  const isOld = ne(webhookSecrets.keyID, keys.sealingID);
  for (const { secretID, endpointID, ...old } of await home.select().from(webhookSecrets).where(isOld)) {
    const sealed = await keys.seal(await keys.open(old, endpointID), endpointID);
    await home.update(webhookSecrets).set(sealed).where(eq(webhookSecrets.secretID, secretID));
  }
}
