import type { Person, Principal } from "./principals.ts";

/**
 * The caller who makes a change, identified by ids. The kind `service` is the service itself. `partner` is null for the
 * operator's staff. `token` is the id of the refresh token from which the caller's access token was made.
 */
export type Actor =
  | { kind: "service" }
  | { kind: "operator" }
  | { kind: "person"; partner: string | null; person: string; name: string }
  | { kind: "partner"; partner: string; token: string }
  | { kind: "user"; partner: string; user: string; token: string };
export const ACTOR_KINDS = ["service", "operator", "person", "partner", "user"] as const satisfies Actor["kind"][];
export type ActorKind = Actor["kind"];

/** The part of a recorded change that the log of requests contains. */
export interface LoggedChange {
  action: string;
  /** The `biz_id` of the changed partner. Null if the change concerns no partner. */
  partner: string | null;
  user?: string;
  /** The id of a member of the partner's staff. */
  person?: string;
  /** The id of a refresh token, never the token itself. */
  token?: string;
}

/** The caller that makes a change, and the request. */
export interface Author {
  actor: Actor;
  /** The id of the request. Null if the service itself makes the change. */
  requestID: string | null;
  /** The caller's IP address. Null if the service itself makes the change. */
  address: string | null;
  /** Receives each change of a request after the change is recorded and before the change is committed. */
  onChange?: (change: LoggedChange) => void;
}

/** The author of changes that the service makes without a request. */
export const SERVICE: Author = { actor: { kind: "service" }, requestID: null, address: null };

/** The ids of a principal, for the log. */
export function actorOf(principal: Principal): Actor {
  const { kind, bizID: partner, tokenID: token } = principal;
  return kind === "partner" ? { kind, partner, token } : { kind, partner, user: principal.userID, token };
}

export function actorOfPerson({ bizID: partner, personID: person, name }: Person): Actor {
  return { kind: "person", partner, person, name };
}
