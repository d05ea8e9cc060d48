import type { Region, UserID } from "keyroot/internal/identity";
import { userDeactivated, userErased, userIDTaken, userInOtherRegion } from "./userErrors.ts";
import type { Author } from "../api/base/author.ts";
import { batchingLoader } from "../api/database/batchingLoader.ts";
import { type Databases, perRegion } from "../api/database/database.ts";
import { type Claim, prepareClaims, prepareGetClaim } from "./claims.ts";
import { prepareInsert } from "./insertUsers.ts";
import { newUser, type User } from "./newUser.ts";
import { claimWithinLimit } from "./userLimit.ts";
import { prepareGetUser } from "./users.ts";

/** Creates single users. Concurrent calls share SQL statements. */
export class UserCreation {
  readonly #databases: Databases;
  readonly #stage: string;
  readonly #getClaim;
  readonly #claim;
  readonly #inRegion;

  constructor(databases: Databases, stage: string) {
    this.#databases = databases;
    this.#stage = stage;
    const { home } = databases;
    this.#getClaim = prepareGetClaim(home);
    const insertClaims = prepareClaims(home);
    this.#claim = batchingLoader(async (claims: readonly Claim[]) => {
      const byID = new Map((await insertClaims(claims)).map((row) => [row.userID, row]));
      // Two claims in a batch may have the same id but different partners. The inserted row contains the partner whose
      // claim was inserted.
      return claims.map(({ userID, bizID, region }) => {
        const row = byID.get(userID);
        return row?.bizID === bizID && row.region === region;
      });
    });
    this.#inRegion = perRegion(databases, (database) => {
      return {
        get: prepareGetUser(database),
        insert: prepareInsert(database, { claiming: false }),
        claimAndInsert: database === home ? prepareInsert(database, { claiming: true }) : undefined,
      };
    });
  }

  /**
   * Creates a user, or returns the one that the same partner created earlier in the same region.
   *
   * If the region uses the home database, one statement claims the id and inserts the user. Otherwise, a statement in
   * the home database claims the id first. After a crash between the two statements, the partner's next call inserts
   * the user.
   * @param created milliseconds since 1970
   * @throws ServiceError USER_ID_TAKEN if the id belongs to another partner or another region; USER_LIMIT_REACHED,
   *   USER_ERASED, USER_DEACTIVATED
   */
  async create(bizID: string, userID: UserID, region: Region, created: number, author: Author): Promise<User> {
    const wanted = { userID, bizID, region };
    const { get, insert, claimAndInsert } = this.#inRegion[region];
    const user = { ...newUser(wanted, created, this.#stage), author };
    const first = await claimAndInsert?.(user);
    if (first !== undefined) return first;
    if (claimAndInsert !== undefined || !(await this.#claim(wanted))) {
      const [found] = await this.#getClaim.execute({ userID });
      const claim = found ?? (await this.#claimWithinLimit(wanted));
      if (claim.bizID !== bizID) throw userIDTaken();
      if (claim.region !== region) throw userInOtherRegion(claim.region);
    }
    const inserted = await insert(user);
    if (inserted !== undefined) return inserted;
    const [earlier] = await get.execute({ userID });
    if (earlier === undefined) throw userIDTaken();
    if (earlier.erased !== null) throw userErased();
    if (earlier.deactivated !== null) throw userDeactivated();
    return earlier;
  }

  /** @throws ServiceError USER_LIMIT_REACHED */
  async #claimWithinLimit(wanted: Claim): Promise<Claim> {
    const { claims, refusal } = await claimWithinLimit(this.#databases.home, wanted.bizID, [wanted]);
    const [claim] = claims;
    if (claim === undefined) throw refusal;
    return claim;
  }
}
