import { sql } from "drizzle-orm";
import type { Database } from "./database.ts";

/**
 * Makes events readable that were restored from a dump of another server. Their transaction ids are those of that server, and
 * may be above all of this one: such events would not be listed before this server has had as many transactions. They get the
 * id of this transaction and keep their order by `position`, so that readers have to start again (`CURSOR_UNKNOWN`).
 */
export async function renumberRestoredEvents(database: Database): Promise<void> {
  // The transaction that inserted a visible row has ended, so its id is below the snapshot's xmax.
  await database.execute(
    sql`update events set xid = pg_current_xact_id() where xid >= pg_snapshot_xmax(pg_current_snapshot())`,
  );
}
