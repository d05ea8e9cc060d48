import { appendFileSync, chmodSync, cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { chownToServerUser } from "../../../support/postgres/binaries.ts";
import { type Postgres, startPostgres } from "../../../support/postgres/postgres.ts";
import { ENDLESS_MS } from "../../../support/endless.ts";

/** Files in the data folder that a base backup omits (PostgreSQL's documentation, "Continuous Archiving"). */
const LEFT_OUT = new Set(["pg_wal", "postmaster.pid", "postmaster.opts"]);

/** Returns PostgreSQL's `archive_command`. docs/backup.md contains the same command, which a test compares. */
export function archiveCommand(folder: string): string {
  return `test ! -f ${folder}/wal/%f && cp %p ${folder}/wal/%f`;
}

/** Returns the lines of `postgresql.auto.conf` for a restore to a point in time. */
export function recoverySettings(folder: string, time: string): string {
  return `restore_command = 'cp ${folder}/wal/%f %p'
recovery_target_time = '${time}'
recovery_target_action = 'promote'
`;
}

/** A PostgreSQL server that archives its WAL. */
export class BackedUpPostgres implements AsyncDisposable {
  readonly server: Postgres;
  readonly #folder: string;

  private constructor(server: Postgres, folder: string) {
    this.server = server;
    this.#folder = folder;
  }

  static async start(): Promise<BackedUpPostgres> {
    const folder = mkdtempSync(join(tmpdir(), "keyroot-backup-"));
    mkdirSync(join(folder, "wal"));
    chownToServerUser(folder);
    const settings = { archive_mode: "on", archive_command: archiveCommand(folder) };
    const server = await startPostgres({ settings });
    return new BackedUpPostgres(server, folder);
  }

  /** Copies the data folder while the server runs, as `pg_basebackup` does. */
  async backUp(): Promise<void> {
    const copy = join(this.#folder, "base");
    await this.#withClient(async (client) => {
      await client.query("SELECT pg_backup_start('keyroot', fast => true)");
      cpSync(join(this.server.folder, "data"), copy, {
        recursive: true,
        filter: (path) => !LEFT_OUT.has(path.slice(join(this.server.folder, "data").length + 1)),
      });
      const { rows } = await client.query<{ labelfile: string }>("SELECT labelfile FROM pg_backup_stop()");
      writeFileSync(join(copy, "backup_label"), rows[0]?.labelfile ?? "");
    });
    mkdirSync(join(copy, "pg_wal"), { mode: 0o700 });
  }

  /** The time of the server's clock, for `recovery_target_time`. */
  async now(): Promise<string> {
    return this.#withClient(async (client) => {
      const { rows } = await client.query<{ now: string }>("SELECT clock_timestamp()::text AS now");
      return rows[0]?.now ?? "";
    });
  }

  /** Kills the server after its WAL has reached the archive, and removes its data. */
  async lose(): Promise<void> {
    await this.#withClient(async (client) => {
      const { rows } = await client.query<{ segment: string }>("SELECT pg_walfile_name(pg_switch_wal()) AS segment");
      const isArchived = "SELECT FROM pg_stat_archiver WHERE last_archived_wal >= $1";
      const deadline = Date.now() + ENDLESS_MS;
      while ((await client.query(isArchived, [rows[0]?.segment])).rowCount === 0) {
        if (Date.now() > deadline) throw new Error("The WAL did not reach the archive.");
        await sleep(50);
      }
    });
    await this.server.kill();
    renameSync(join(this.server.folder, "data"), join(this.#folder, "lost"));
  }

  /** Restores the base backup, and replays the archived WAL up to a time. */
  async restore(time: string): Promise<void> {
    const data = join(this.server.folder, "data");
    cpSync(join(this.#folder, "base"), data, { recursive: true });
    chmodSync(data, 0o700);
    appendFileSync(join(data, "postgresql.auto.conf"), recoverySettings(this.#folder, time));
    writeFileSync(join(data, "recovery.signal"), "");
    chownToServerUser(data);
    await this.server.restart();
    await this.#withClient(async (client) => {
      while ((await client.query("SELECT WHERE pg_is_in_recovery()")).rowCount !== 0) await sleep(20);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #withClient<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = new Client({ connectionString: this.server.url });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }
}
