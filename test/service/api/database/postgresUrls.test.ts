import { expect } from "chai";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KeyrootError } from "../../../../packages/keyroot/src/errors.ts";
import { checkMigrations, openDatabases } from "../../../../packages/service/src/api/database/database.ts";
import { chownToServerUser } from "../../../support/postgres/binaries.ts";
import { startPgBouncer } from "../../../support/postgres/pgbouncer.ts";
import { type Postgres, runAt, startPostgres } from "../../../support/postgres/postgres.ts";
import { closedAfterEach, failure } from "../../../support/support.ts";

const WORKS = "works";
const PASSWORD = "p w#/?@%";

/** A way to connect to PostgreSQL, with the result of `keyroot migrate`. */
interface Row {
  what: string;
  /** Statements of the administrator about the new database `db` and the new user `svc`. */
  prepare?: string[];
  /** Whether the host is a PgBouncer before the server. */
  isPooled?: true;
  /** Creates the URL. */
  url: (place: { user: string; host: string; port: string; db: string; ca: string; socket: string }) => string;
  /** The code and parts of the message, which must contain PostgreSQL's words and the remedy. */
  result: typeof WORKS | [code: string, ...parts: string[]];
}

const word = encodeURIComponent(PASSWORD);
const own = ["ALTER DATABASE db OWNER TO svc"];

const ROWS: Row[] = [
  {
    what: "the owner of the database, with special characters in the password",
    prepare: own,
    url: ({ user, host, db }) => `postgres://${user}:${word}@${host}/${db}`,
    result: WORKS,
  },
  {
    what: "a socket",
    prepare: own,
    url: ({ user, db, socket, port }) => `postgres:///${db}?host=${socket}&port=${port}&user=${user}&password=${word}`,
    result: WORKS,
  },
  {
    what: "a socket as the host's name",
    prepare: own,
    url: ({ user, db, socket, port }) => `postgres://${user}:${word}@${encodeURIComponent(socket)}:${port}/${db}`,
    result: WORKS,
  },
  {
    what: "a socket that does not exist",
    url: ({ db }) => `postgres:///${db}?host=/none`,
    result: ["UNREACHABLE", "ENOENT", "/none", "check that PostgreSQL runs"],
  },
  {
    what: "a user who may not create schemas, with a schema from the administrator",
    prepare: ["CREATE SCHEMA drizzle AUTHORIZATION svc", "GRANT CREATE, USAGE ON SCHEMA public TO svc"],
    url: ({ user, host, db }) => `postgres://${user}:${word}@${host}/${db}`,
    result: WORKS,
  },
  {
    what: "a user who may not create schemas",
    url: ({ user, host, db }) => `postgres://${user}:${word}@${host}/${db}`,
    result: ["CONFIGURATION_INVALID", "permission denied for database", "CREATE SCHEMA drizzle AUTHORIZATION"],
  },
  {
    what: "a user who may not create tables",
    prepare: ["GRANT CREATE ON DATABASE db TO svc"],
    url: ({ user, host, db }) => `postgres://${user}:${word}@${host}/${db}`,
    result: ["CONFIGURATION_INVALID", "permission denied for schema public", "GRANT CREATE, USAGE ON SCHEMA public"],
  },
  {
    what: "a user with an empty search_path",
    prepare: [...own, "ALTER ROLE svc IN DATABASE db SET search_path = ''"],
    url: ({ user, host, db }) => `postgres://${user}:${word}@${host}/${db}`,
    result: ["CONFIGURATION_INVALID", "no schema has been selected", "SET search_path = public"],
  },
  {
    what: "a wrong password",
    url: ({ user, host, db }) => `postgres://${user}:wrong@${host}/${db}`,
    result: ["UNREACHABLE", "password authentication failed for user", "correct the URL"],
  },
  {
    what: "a read-only database",
    prepare: [...own, "ALTER DATABASE db SET default_transaction_read_only = on"],
    url: ({ user, host, db }) => `postgres://${user}:${word}@${host}/${db}`,
    result: ["UNREACHABLE", "in a read-only transaction", "Connect to the leader"],
  },
  {
    what: "TLS with the certificate of a private authority",
    prepare: own,
    url: ({ user, host, db, ca }) => `postgres://${user}:${word}@${host}/${db}?sslmode=verify-full&sslrootcert=${ca}`,
    result: WORKS,
  },
  ...["prefer", "require", "verify-ca", "verify-full"].map((mode): Row => {
    return {
      what: `TLS with sslmode=${mode}, without the certificate of the private authority`,
      url: ({ user, host, db }) => `postgres://${user}:${word}@${host}/${db}?sslmode=${mode}`,
      result: ["UNREACHABLE", "DATABASE_URL: unable to verify the first certificate", "sslrootcert=<file>"],
    };
  }),
  {
    what: "TLS with a host name that the certificate does not contain",
    url: ({ user, host, db, ca }) =>
      `postgres://${user}:${word}@${host.replace("127.0.0.1", "localhost")}/${db}?sslmode=verify-full&sslrootcert=${ca}`,
    result: ["UNREACHABLE", "does not match certificate's altnames", "Use a host name in the URL"],
  },
  {
    what: "TLS with a missing file of the authority",
    url: ({ user, host, db }) => `postgres://${user}:${word}@${host}/${db}?sslmode=verify-full&sslrootcert=/none.pem`,
    result: ["CONFIGURATION_INVALID", "/none.pem", "Correct sslrootcert"],
  },
  {
    what: "TLS without verification",
    prepare: own,
    url: ({ user, host, db }) => `postgres://${user}:${word}@${host}/${db}?sslmode=no-verify`,
    result: WORKS,
  },
  {
    what: "no connections left",
    prepare: [...own, "ALTER ROLE svc CONNECTION LIMIT 0"],
    url: ({ user, host, db }) => `postgres://${user}:${word}@${host}/${db}`,
    result: ["UNREACHABLE", "too many connections for role", "use a connection pooler"],
  },
  {
    what: "no TLS although the server requires it",
    prepare: ["GRANT only_tls TO svc"],
    url: ({ user, host, db }) => `postgres://${user}:${word}@${host}/${db}`,
    result: ["UNREACHABLE", "no encryption", "Add sslmode=verify-full"],
  },
  {
    what: "TLS although the pooler has none",
    isPooled: true,
    url: ({ user, host, db }) => `postgres://${user}@${host}/${db}?sslmode=verify-full`,
    result: ["UNREACHABLE", "does not support SSL", "sslmode=disable"],
  },
  {
    what: "a startup parameter that the pooler does not know",
    isPooled: true,
    url: ({ user, host, db }) => `postgres://${user}@${host}/${db}?options=-c%20search_path%3Dpublic`,
    result: ["UNREACHABLE", "unsupported startup parameter: options", "Remove the parameter from the URL"],
  },
];

/** Creates a private authority, and a certificate of this authority for 127.0.0.1. */
function makeCertificates(folder: string): { ca: string; certificate: string; key: string } {
  const path = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync("openssl", args, { stdio: "ignore" });
  const fresh = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const authority = ["-x509", ...fresh, "-days", "2", "-subj", "/CN=Private authority"];
  openssl("req", ...authority, "-keyout", path("ca.key"), "-out", path("ca.pem"));
  openssl("req", ...fresh, "-subj", "/CN=database", "-keyout", path("server.key"), "-out", path("server.csr"));
  writeFileSync(path("names"), "subjectAltName=IP:127.0.0.1\n");
  const signed = ["-CA", path("ca.pem"), "-CAkey", path("ca.key"), "-CAcreateserial", "-extfile", path("names")];
  openssl("x509", "-req", "-in", path("server.csr"), ...signed, "-days", "2", "-out", path("server.pem"));
  return { ca: path("ca.pem"), certificate: path("server.pem"), key: path("server.key") };
}

describe("the URL of a PostgreSQL database", () => {
  const closing = closedAfterEach();
  let folder: string;
  let socket: string;
  let ca: string;
  let postgres: Postgres;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "keyroot-urls-"));
    chmodSync(folder, 0o755);
    const certificates = makeCertificates(folder);
    ({ ca } = certificates);
    socket = join(folder, "socket");
    mkdirSync(socket);
    chownToServerUser(folder);
    const { certificate, key } = certificates;
    postgres = await startPostgres({
      settings: { unix_socket_directories: socket, ssl: "on", ssl_cert_file: certificate, ssl_key_file: key },
    });
    await runAt(postgres.url, "CREATE ROLE only_tls");
    const rules = join(postgres.folder, "data", "pg_hba.conf");
    writeFileSync(
      rules,
      `hostnossl all +only_tls all reject\n${readFileSync(rules, "utf8").replaceAll("all             all", "all all")}`,
    );
    await runAt(postgres.url, "SELECT pg_reload_conf()");
  });
  after(async () => {
    await postgres.stop();
    rmSync(folder, { recursive: true });
  });

  for (const { what, prepare = [], isPooled, url, result } of ROWS) {
    const outcome =
      result === WORKS ? "lets 'keyroot migrate' and the service work" : "leads to an error with the remedy";
    it(`${outcome}, with ${what}`, async () => {
      const admin = await postgres.createDatabase();
      const db = new URL(admin).pathname.slice(1);
      const user = `svc_${randomBytes(4).toString("hex")}`;
      await runAt(admin, `CREATE ROLE ${user} LOGIN PASSWORD '${PASSWORD}'`);
      for (const statement of prepare)
        await runAt(admin, statement.replaceAll(/\bdb\b/g, db).replaceAll(/\bsvc\b/g, user));
      const pooler = isPooled && closing(await startPgBouncer(admin, { pool_mode: "transaction" }));
      const { host, port } = new URL(pooler?.url ?? admin);
      await using databases = await openDatabases({ url: url({ user, db, ca, socket, host, port }) });
      if (result === WORKS) {
        await databases.migrate();
        await checkMigrations(databases);
        return;
      }
      const [code, ...parts] = result;
      const error = await failure(databases.migrate());
      expect(error).to.be.instanceOf(KeyrootError).with.property("code", code);
      for (const part of ["DATABASE_URL", ...parts]) expect((error as Error).message).to.include(part);
    });
  }
});
