import type { Adapter, AdapterPayload } from "oidc-provider";
import type { Pool } from "pg";

/** Creates the table for all models, with indexes on session and grant. */
export async function createTable(pool: Pool): Promise<void> {
  await pool.query(`
    CREATE TABLE oidc_models (
      model text NOT NULL,
      id text NOT NULL,
      payload jsonb NOT NULL,
      expires timestamptz,
      consumed timestamptz,
      PRIMARY KEY (model, id)
    );
    CREATE INDEX oidc_models_by_grant ON oidc_models (model, (payload->>'grantId'));
    CREATE INDEX oidc_models_by_uid ON oidc_models (model, (payload->>'uid'));
    CREATE INDEX oidc_models_by_user_code ON oidc_models (model, (payload->>'userCode'));
  `);
}

/** Stores the models of oidc-provider in PostgreSQL, with one prepared statement per operation. */
export class PostgresAdapter implements Adapter {
  readonly #model: string;
  readonly #pool: Pool;

  constructor(model: string, pool: Pool) {
    this.#model = model;
    this.#pool = pool;
  }

  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
    const expires = expiresIn === undefined ? null : new Date(Date.now() + expiresIn * 1000);
    await this.#query(
      "oidc_upsert",
      `INSERT INTO oidc_models (model, id, payload, expires) VALUES ($1, $2, $3, $4)
       ON CONFLICT (model, id) DO UPDATE SET payload = excluded.payload, expires = excluded.expires`,
      [id, payload, expires],
    );
  }

  find(id: string): Promise<AdapterPayload | undefined> {
    return this.#findBy("oidc_find", "id", id);
  }

  findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.#findBy("oidc_find_by_uid", "payload->>'uid'", uid);
  }

  findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    return this.#findBy("oidc_find_by_user_code", "payload->>'userCode'", userCode);
  }

  async consume(id: string): Promise<void> {
    await this.#query("oidc_consume", "UPDATE oidc_models SET consumed = now() WHERE model = $1 AND id = $2", [id]);
  }

  async destroy(id: string): Promise<void> {
    await this.#query("oidc_destroy", "DELETE FROM oidc_models WHERE model = $1 AND id = $2", [id]);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    const statement = "DELETE FROM oidc_models WHERE model = $1 AND payload->>'grantId' = $2";
    await this.#query("oidc_revoke_by_grant", statement, [grantId]);
  }

  async #findBy(name: string, key: string, value: string): Promise<AdapterPayload | undefined> {
    const statement = `SELECT payload, consumed FROM oidc_models
                       WHERE model = $1 AND ${key} = $2 AND (expires IS NULL OR expires > now())`;
    const [row] = await this.#query<{ payload: AdapterPayload; consumed: Date | null }>(name, statement, [value]);
    if (row === undefined) return undefined;
    return row.consumed === null
      ? row.payload
      : { ...row.payload, consumed: Math.floor(row.consumed.getTime() / 1000) };
  }

  async #query<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> {
    const { rows } = await this.#pool.query<Row>({ name, text, values: [this.#model, ...values] });
    return rows;
  }
}
