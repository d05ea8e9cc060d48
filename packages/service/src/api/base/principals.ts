import type { Region, UserID } from "keyroot/internal/identity";

/**
 * The caller that an access token identifies. `tokenID` is the id of the refresh token that created the access token.
 */
export type Principal =
  | { kind: "partner"; bizID: string; tokenID: string }
  | { kind: "user"; bizID: string; tokenID: string; userID: UserID; region: Region };

export type PrincipalOf<Kind extends Principal["kind"]> = Extract<Principal, { kind: Kind }>;

/** Roles in the dashboard. An administrator may change everything. A reader may change nothing. */
export const ROLES = ["administrator", "reader"] as const;
export type Role = (typeof ROLES)[number];

/** A person who may sign in to the dashboard. */
export interface Person {
  personID: string;
  /** The partner for which the person works. Null for the operator's staff. */
  bizID: string | null;
  name: string;
  role: Role;
}

export interface Session {
  sessionHash: string;
  person: Person;
  /** Number of the person's passkeys. With 0, the person may only add a passkey. */
  passkeys: number;
}
