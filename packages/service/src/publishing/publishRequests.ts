import { setTimeout as sleep } from "node:timers/promises";
import type { Author } from "../api/base/author.ts";
import { ServiceError } from "../api/base/errors.ts";
import type { Database } from "../api/database/database.ts";
import { asc, desc, eq, inArray, isNull } from "../api/database/drizzle.ts";
import { publishRequests } from "./tables.ts";

/** A request to publish now. */
export type PublishRequest = typeof publishRequests.$inferSelect;

/** Interval in ms at which a waiting caller reads its request. */
const POLL_MS = 250;
/** Time in ms within which a running publisher takes a request. */
const TAKEN_MS = 5000;

/** Stores requests to publish now. A publisher, which is another process, takes them. */
export class PublishRequests {
  readonly #home: Database;

  constructor(home: Database) {
    this.#home = home;
  }

  /** Adds a request, or returns the one that waits or is in progress. */
  async add({ actor, requestID, address }: Author, now: number): Promise<PublishRequest> {
    const [open] = await this.listOpen();
    if (open !== undefined) return open;
    const row = { author: { actor, requestID, address }, requested: now };
    const [added] = await this.#home.insert(publishRequests).values(row).returning();
    if (added === undefined) throw new Error("The database did not return the new request.");
    return added;
  }

  async last(): Promise<PublishRequest | undefined> {
    const [last] = await this.#home.select().from(publishRequests).orderBy(desc(publishRequests.id)).limit(1);
    return last;
  }

  /**
   * Waits until the publication of a request has ended.
   * @param isSilent whether no publisher has reported lately
   * @param signal stops waiting
   * @throws ServiceError PUBLISHER_SILENT if no publisher took the request within five seconds and none has reported
   *   lately. The next publisher to start still takes the request
   */
  async waitFor(id: number, isSilent: () => Promise<boolean>, signal: AbortSignal): Promise<PublishRequest> {
    for (let waitedMs = 0; ; waitedMs += POLL_MS) {
      const [found] = await this.#home.select().from(publishRequests).where(eq(publishRequests.id, id));
      if (found === undefined) throw new Error("A request to publish was deleted.");
      if (found.ended !== null) return found;
      if (found.started === null && waitedMs >= TAKEN_MS && (await isSilent())) {
        const message =
          "No publisher has reported for two minutes, so nothing was published. Check that 'keyroot publisher' runs and reaches the database. It takes this request when it starts.";
        throw new ServiceError(503, "PUBLISHER_SILENT", message);
      }
      await sleep(POLL_MS, undefined, { signal });
    }
  }

  /** Lists the requests that have not ended, oldest first. */
  listOpen(): Promise<PublishRequest[]> {
    return this.#home
      .select()
      .from(publishRequests)
      .where(isNull(publishRequests.ended))
      .orderBy(asc(publishRequests.id));
  }
}

/** Changes requests. @param transaction a transaction of the home database that holds the publisher's lease */
export async function updateRequests(
  transaction: Database,
  requests: readonly Pick<PublishRequest, "id">[],
  changes: Partial<Pick<PublishRequest, "started" | "ended" | "batches" | "error">>,
): Promise<void> {
  const ids = requests.map(({ id }) => id);
  await transaction.update(publishRequests).set(changes).where(inArray(publishRequests.id, ids));
}
