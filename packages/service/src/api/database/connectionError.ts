import { ArgumentError, TransportError } from "../base/errors.ts";
import { isDatabaseUnavailable } from "./unavailable.ts";

interface Problem {
  /** The error's code: an SQLSTATE (PostgreSQL's documentation, "Error Codes"), or a code of Node. */
  code?: RegExp;
  /** The error's message. Some errors have no code, or share a code with other errors. */
  message?: RegExp;
  /** What PostgreSQL, the pooler or Node did, before the name of the variable. */
  problem: string;
  remedy: string;
  /** Whether only the operator can help. Otherwise, the database may be available later. */
  isConfiguration?: boolean;
}

const REJECTED = "PostgreSQL rejects the connection of";
const UNVERIFIED = "The server's certificate cannot be verified for the connection of";
const REFUSED = "PostgreSQL refuses an operation of the user in";

/** Errors of a first query that have a specific remedy. If an error matches several rows, the first one applies. */
const PROBLEMS: readonly Problem[] = [
  {
    code: /^28000$/,
    message: /no encryption|SSL off/,
    problem: REJECTED,
    remedy:
      "The server requires TLS. Add sslmode=verify-full to the URL and, for a private authority, sslrootcert=<file of its certificate>.",
  },
  {
    code: /^(?:28|3D)[0-9A-Z]{3}$/,
    problem: REJECTED,
    remedy: "Run the command as the system user of the service, or correct the URL.",
  },
  {
    message: /unsupported startup parameter/,
    problem: "The connection pooler rejects the connection of",
    remedy: "Remove the parameter from the URL, or add it to the pooler's ignore_startup_parameters.",
  },
  {
    code: /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    problem: UNVERIFIED,
    remedy: "Use a host name in the URL that the certificate contains.",
  },
  {
    code: /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|INVALID_CA)/,
    problem: UNVERIFIED,
    remedy:
      "Add sslrootcert=<file> to the URL, with the PEM certificate of the authority that issued the server's certificate. sslmode=no-verify encrypts without protection from an attacker in the network.",
  },
  {
    message: /^The server does not support SSL/,
    problem: "There is no TLS for the connection of",
    remedy:
      "Switch on TLS in the server or pooler. In a trusted network, you can set sslmode=disable in the URL instead.",
  },
  {
    code: /^(?:ENOENT|EACCES|EISDIR)$/,
    message: /\b(?:open|read)\b/,
    problem: "A certificate file cannot be read for",
    remedy: "Correct sslrootcert, sslcert or sslkey in the URL.",
    isConfiguration: true,
  },
  {
    code: /^EACCES$/,
    problem: "The system refuses the connection of",
    remedy: "Give the service's system user access to the socket's folder.",
  },
  {
    code: /^42501$/,
    problem: REFUSED,
    remedy:
      "Make the user the owner of the database: ALTER DATABASE <database> OWNER TO <user>. Or run CREATE SCHEMA drizzle AUTHORIZATION <user> and GRANT CREATE, USAGE ON SCHEMA public TO <user>. Then run 'keyroot migrate' as this user.",
    isConfiguration: true,
  },
  {
    code: /^3F000$/,
    problem: REFUSED,
    remedy:
      "The user's search_path names no schema that exists. Run ALTER ROLE <user> IN DATABASE <database> SET search_path = public, or name your own schema.",
    isConfiguration: true,
  },
  {
    code: /^25006$/,
    problem: "The server is read-only for the connection of",
    remedy: "Connect to the leader, or reset default_transaction_read_only.",
  },
  {
    code: /^53300$/,
    problem: REJECTED,
    remedy:
      "Set a lower KEYROOT_DATABASE_CONNECTIONS, allow more connections in PostgreSQL, or use a connection pooler.",
  },
];

/** PostgreSQL's error classes 40 and 53, and its error 57014: a query failed on a working connection. */
const FAILED_QUERY = /^(?:40|53)[0-9A-Z]{3}$|^57014$/;

/**
 * Converts the error of a database's first query to an error that contains the server's message and the remedy. An
 * error without a known remedy is returned unchanged.
 * @param variable the environment variable with the URL of the database
 * @returns ArgumentError CONFIGURATION_INVALID if the user has too few rights, or a file that the URL names cannot be
 *   read; TransportError UNREACHABLE if there is no connection
 */
export function toConnectionError(error: unknown, variable: string): unknown {
  for (let reason = error; reason instanceof Error; reason = reason.cause) {
    const { code } = reason as { code?: unknown };
    const text = typeof code === "string" ? code : "";
    const said = (reason.message || text).replace(/\.$/, "");
    const known = PROBLEMS.find(
      (row) => (row.code === undefined || row.code.test(text)) && (row.message === undefined || row.message.test(said)),
    );
    if (known !== undefined) {
      const message = `${known.problem} ${variable}: ${said}. ${known.remedy}`;
      return known.isConfiguration === true
        ? new ArgumentError("CONFIGURATION_INVALID", message, { cause: error })
        : new TransportError("UNREACHABLE", message, { cause: error });
    }
    if (FAILED_QUERY.test(text)) return error;
    if (!isDatabaseUnavailable(error) || reason.cause instanceof Error) continue;
    const message = `The database of ${variable} is unavailable: ${said}. Check the URL, and check that PostgreSQL runs.`;
    return new TransportError("UNREACHABLE", message, { cause: error });
  }
  return error;
}
