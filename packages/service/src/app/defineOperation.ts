import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import type { Author } from "../auditLog/recordChange.ts";
import type { Session } from "../staff/sessions.ts";
import type { PrincipalOf } from "../tokens/accessTokens.ts";
import type { ServiceContext } from "./context.ts";
import type { RepeatableRequest } from "./idempotency.ts";

/** The fastify app, as routes use it. */
export type App = FastifyInstance;

/**
 * Who may call an operation. With a bearer token: `partner` (a server's access token), `user` (a user's access token) and
 * `operator` (the admin token). With the cookie of a session: `partnerStaff` and `operatorStaff` (people with a passkey),
 * and `invited` (any session, also before a passkey was added). Without either: `public`, and `visitor` from the dashboard's
 * page only.
 */
export type Caller = keyof Principals;

/** The principal of each caller. */
interface Principals {
  public: undefined;
  partner: PrincipalOf<"partner">;
  user: PrincipalOf<"user">;
  operator: { kind: "operator" };
  visitor: undefined;
  invited: StaffPrincipal;
  partnerStaff: StaffPrincipal & { bizID: string };
  operatorStaff: StaffPrincipal;
}

/** A person with a session of the dashboard. */
interface StaffPrincipal {
  kind: "person";
  /** The person's partner. Null for the operator's staff. */
  bizID: string | null;
  session: Session;
}

/** The identified caller of a request; undefined if the operation requires none. */
export type AnyPrincipal = Principals[Caller];

/** A request of an identified caller. */
export interface Call<Callers extends Caller = Caller> {
  context: ServiceContext;
  principal: Principals[Callers];
  /** The author of the changes that the request makes. */
  author: Author;
  /** The request, if it has an Idempotency-Key. Undefined for sessions: the service keeps no copy of a secret for them. */
  repeatable: RepeatableRequest | undefined;
  request: FastifyRequest;
  reply: FastifyReply;
}

/** An operation of the API: its path, its callers, its schemas and its handler. */
export interface Operation<
  Path extends string = string,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
  Callers extends Caller = Caller,
> {
  path: Path;
  callers: readonly Callers[];
  /** The role that people need. Default `reader`. */
  role?: "reader" | "administrator";
  /** Whether people must have confirmed the request with a passkey. Default false. */
  verified?: boolean;
  /**
   * Whether users, and people who need the role of an administrator, may call the operation while their partner is suspended. Readers
   * always may. Default false.
   */
  duringSuspension?: boolean;
  summary: string;
  description?: string;
  body: Body;
  answer: Answer;
  /** The status of a successful response. Default 200. */
  status?: 200 | 201;
  /** Whether the specification defines this operation. Default false: it is an extension. */
  specified?: boolean;
  /** Whether requests may have an Idempotency-Key. Default false. */
  idempotent?: boolean;
  /** The maximum size of the body in bytes. Default `MAX_BODY_BYTES`. */
  bodyLimit?: number;
  /** Error statuses in addition to those of every operation. */
  errors?: readonly (404 | 409)[];
  // A method, so that operations with different bodies have one supertype.
  handle(body: z.output<Body>, call: Call<Callers>): Promise<z.output<Answer>>;
}

/** Returns the operation, with the type of its path, schemas and callers. */
export function defineOperation<
  const Path extends `/v1/${string}`,
  Body extends z.ZodType,
  Answer extends z.ZodType,
  const Callers extends Caller,
>(operation: Operation<Path, Body, Answer, Callers>): Operation<Path, Body, Answer, Callers> {
  return operation;
}

const STAFF: readonly Caller[] = ["visitor", "invited", "partnerStaff", "operatorStaff"];

/** Whether the dashboard's page may call the operation. */
export function isForStaff({ callers }: Pick<Operation, "callers">): boolean {
  return callers.some((caller) => STAFF.includes(caller));
}

/** The only caller with a bearer token, or `public`; undefined for an operation of the dashboard's page only. */
export function tokenCallerOf({
  callers,
}: Pick<Operation, "callers">): "public" | "partner" | "user" | "operator" | undefined {
  return (["public", "partner", "user", "operator"] as const).find((caller) => callers.includes(caller));
}
