/**
 * The functions of drizzle-orm that the service uses, from its CommonJS files. Its ES modules would double the
 * processor time of a start, because Node parses drizzle-orm's package.json (180 kB) once for each module.
 */
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

export const {
  and,
  asc,
  count,
  desc,
  eq,
  exists,
  gt,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  max,
  ne,
  not,
  or,
  sql,
  sum,
} = require("drizzle-orm") as typeof import("drizzle-orm");
export const {
  bigint,
  bigserial,
  boolean,
  customType,
  index,
  integer,
  jsonb,
  numeric,
  pgTable,
  primaryKey,
  serial,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} = require("drizzle-orm/pg-core") as typeof import("drizzle-orm/pg-core");
export const { readMigrationFiles } = require("drizzle-orm/migrator") as typeof import("drizzle-orm/migrator");

export type { SQL } from "drizzle-orm";
export type { PgColumn, PgDatabase, PgQueryResultHKT, PgTable } from "drizzle-orm/pg-core";

export function loadPostgresDriver() {
  return require("drizzle-orm/node-postgres") as typeof import("drizzle-orm/node-postgres");
}

export function loadPGliteDriver() {
  return require("drizzle-orm/pglite") as typeof import("drizzle-orm/pglite");
}
