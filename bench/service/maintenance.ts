/** Measures migrations and cleaning jobs over a filled database, for `npm run bench -- size`. */
import { Client } from "pg";
import { round } from "../runner/report.ts";

/** The number of old rows that a job deletes. */
const OLD_ROWS = 10_000;
/** The number of rows that one statement deletes, as in the service. */
const ROWS_PER_DELETE = 5_000;

/** One statement of each kind of migration and job, with the names of its figures. */
const TASKS: readonly { task: string; sql: string; after?: string }[] = [
  {
    task: "migration: add a column with a default to users",
    sql: "ALTER TABLE users ADD COLUMN bench integer NOT NULL DEFAULT 0",
    after: "ALTER TABLE users DROP COLUMN bench",
  },
  {
    task: "migration: index public_keys by root",
    sql: "CREATE INDEX bench ON public_keys (root)",
    after: "DROP INDEX bench",
  },
  {
    task: "migration: index user_tokens by user",
    sql: "CREATE INDEX bench ON user_tokens (user_id, created, token_id)",
    after: "DROP INDEX bench",
  },
  {
    task: `job: delete the ${OLD_ROWS.toLocaleString("en")} oldest entries of the audit log`,
    sql: `DO $$ BEGIN
      FOR i IN 1..${OLD_ROWS / ROWS_PER_DELETE} LOOP
        PERFORM set_config('keyroot.audit_retention', 'on', true);
        DELETE FROM audit_entries WHERE position IN (
          SELECT position FROM audit_entries ORDER BY at, position LIMIT ${ROWS_PER_DELETE} FOR UPDATE SKIP LOCKED);
        COMMIT;
      END LOOP; END $$`,
  },
  { task: "autovacuum of audit_entries after it", sql: "VACUUM audit_entries" },
];

/** Measures the seconds of each task. The measurement deletes the oldest entries of the audit log from the database. */
export async function measureMaintenance(url: string): Promise<{ task: string; seconds: number }[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const measured: { task: string; seconds: number }[] = [];
    for (const { task, sql, after } of TASKS) {
      const started = performance.now();
      await client.query(sql);
      measured.push({ task, seconds: round((performance.now() - started) / 1000) });
      if (after !== undefined) await client.query(after);
    }
    return measured;
  } finally {
    await client.end();
  }
}
