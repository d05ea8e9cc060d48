import { randomBytes } from "node:crypto";
import { eq } from "drizzle-orm";
import type { Database } from "./database.ts";
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

  async create(name: string, created: number): Promise<Partner> {
    const partner = { bizID: `biz_${randomBytes(16).toString("base64url")}`, name, created };
    await this.#home.insert(partners).values(partner);
    return partner;
  }

  async exists(bizID: string): Promise<boolean> {
    return (await this.#home.select().from(partners).where(eq(partners.bizID, bizID))).length === 1;
  }
}
