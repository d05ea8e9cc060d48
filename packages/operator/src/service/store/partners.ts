import { randomBytes } from "node:crypto";
import { eq } from "drizzle-orm";
import { hashSecret } from "../tokens/refreshToken.ts";
import type { Database } from "./database.ts";
import { keyReused } from "./idempotency.ts";
import { partners } from "./tables.ts";

/** A partner company. */
export interface Partner {
  bizID: string;
  name: string;
  /** Milliseconds since 1970. */
  created: number;
}

/** Stores partners, in the home database. */
export class PartnerStore {
  readonly #home: Database;

  constructor(home: Database) {
    this.#home = home;
  }

  /**
   * Creates a partner, or returns the one that an earlier request with the same Idempotency-Key created.
   * @throws ServiceError IDEMPOTENCY_KEY_REUSED
   */
  async create(name: string, created: number, idempotencyKey?: string): Promise<Partner> {
    const partner = { bizID: `biz_${randomBytes(16).toString("base64url")}`, name, created };
    const requestHash = idempotencyKey === undefined ? null : hashSecret("operator", idempotencyKey);
    const values = { ...partner, requestHash };
    const [inserted] = await this.#home.insert(partners).values(values).onConflictDoNothing().returning();
    if (inserted !== undefined) return partner;
    const [earlier] = await this.#home
      .select()
      .from(partners)
      .where(eq(partners.requestHash, requestHash ?? ""));
    if (earlier?.name !== name) throw keyReused("it belongs to a different request");
    return { bizID: earlier.bizID, name, created: earlier.created };
  }

  /** @returns undefined when there is no such partner */
  async get(bizID: string): Promise<Partner | undefined> {
    const [found] = await this.#home.select().from(partners).where(eq(partners.bizID, bizID));
    return found;
  }

  async exists(bizID: string): Promise<boolean> {
    return (await this.get(bizID)) !== undefined;
  }
}
