import { SERVICE } from "../../../packages/service/src/api/base/author.ts";
import { randomBytes } from "node:crypto";
import type { Answer } from "./caller.ts";
import type { TestService } from "./support.ts";

/** The headers that a browser sends from the dashboard's page. */
interface CallOptions {
  cookie?: string | undefined;
  /** Headers to replace. An undefined value removes the header. */
  headers?: Record<string, string | undefined>;
}

/** Calls an operation as the dashboard's page does. */
export function callDashboard(
  service: TestService,
  path: string,
  body: object = {},
  { cookie, headers = {} }: CallOptions = {},
): Promise<Answer> {
  const sent = {
    Origin: service.url.replace("127.0.0.1", "localhost"),
    Cookie: cookie === undefined ? undefined : `__Host-keyroot=${cookie}`,
    ...headers,
  };
  const present = Object.entries(sent).filter((header): header is [string, string] => header[1] !== undefined);
  return service.post(path, body, { headers: Object.fromEntries(present) });
}

/** A signed-in person with a passkey that exists in the database only. */
export interface TestPerson {
  personID: string;
  bizID: string | null;
  cookie: string;
  call: (path: string, body?: object) => Promise<Answer>;
  /** Calls an operation with a fresh verification. */
  change: (path: string, body?: object) => Promise<Answer>;
  /** Makes the next change count as freshly verified. */
  verify: () => Promise<void>;
}

/**
 * Invites a person, accepts the invitation and adds a passkey.
 * @param bizID the partner's id, or null for the operator's staff
 */
export async function signInPerson(
  service: TestService,
  bizID: string | null,
  name: string,
  { role = "administrator", passkey = true } = {},
): Promise<TestPerson> {
  const { sessions, passkeys, now } = service.context;
  const { url, person_id } =
    bizID === null
      ? await service.admin("/v1/admin/operators/invite", { name, role })
      : await service.admin("/v1/admin/staff/invite", { biz_id: bizID, name, role });
  const token = String(url).split("/").at(-1);
  const accepted = await callDashboard(service, "/v1/dashboard/invitations/accept", { token });
  const cookie = cookieOf(accepted) ?? "";
  const session = await sessions.get(cookie, now());
  if (session === undefined) throw new Error(`The invitation was not accepted: ${accepted.text}`);
  const credential = {
    credentialID: randomBytes(16).toString("base64url"),
    publicKey: "AA",
    counter: 0,
    transports: [],
  };
  if (passkey) await passkeys.add(session, credential, now(), SERVICE);
  const call = (path: string, body?: object) => callDashboard(service, path, body, { cookie });
  const verify = () => sessions.setVerified(session.sessionHash, now());
  return {
    ...{ personID: person_id as string, bizID, cookie, call, verify },
    change: async (path, body) => {
      await verify();
      return call(path, body);
    },
  };
}

/** The value of the session's cookie that a response sets. */
export function cookieOf({ headers }: Answer): string | undefined {
  return /__Host-keyroot=([^;]+)/.exec(headers.get("set-cookie") ?? "")?.[1];
}
