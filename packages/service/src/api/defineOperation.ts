import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import type { Author } from "./base/author.ts";
import type { PrincipalOf, Session } from "./base/principals.ts";
import type { ApiContext } from "./context.ts";
import type { RepeatableRequest } from "./database/idempotency.ts";

export type App = FastifyInstance;

/**
 * Who may call an operation:
 * - with a bearer token: `partner` (a server's access token), `user` (a user's access token) or `operator` (the admin
 *   token);
 * - with a session cookie: `partnerStaff` and `operatorStaff` (people with a passkey) or `invited` (any session, even
 *   before a passkey was added);
 * - with neither: `public`, or `visitor` (only from the dashboard's page).
 */
export type Caller = keyof Principals;

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

interface StaffPrincipal {
  kind: "person";
  /** The person's partner. Null for the operator's staff. */
  bizID: string | null;
  session: Session;
}

/** The identified caller of a request. Undefined for operations that anyone may call. */
export type AnyPrincipal = Principals[Caller];

export interface Call<Callers extends Caller, Context> {
  context: Context;
  principal: Principals[Callers];
  author: Author;
  /**
   * The request, if it has an Idempotency-Key. For a session it is always undefined, because a session creates secrets
   * of which the service stores no copies.
   */
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
  // Operations of different subjects need different parts of the context. `serve/context.ts` has all of them.
  // oxlint-disable-next-line typescript/no-explicit-any
  Context = any,
> {
  path: Path;
  callers: readonly Callers[];
  /** Set it for a change that readers may make, because it concerns only themselves. */
  role?: "reader";
  /**
   * Whether the operation only reads. Staff must confirm every other operation with a passkey, unless `unverified` is
   * set. Default: false.
   */
  reads?: boolean;
  /** The reason why staff need no passkey for a change. Undefined if they need it. */
  unverified?: string;
  /**
   * Whether users and administrators may call the operation while the partner is suspended. Operations that readers may
   * call are always allowed. Default: false.
   */
  duringSuspension?: boolean;
  summary: string;
  description?: string;
  body: Body;
  answer: Answer;
  /** The status of a successful response. Default: 200. */
  status?: 200 | 201;
  /** Whether the specification defines this operation. Default: false, for an extension. */
  specified?: boolean;
  /** Whether requests may contain an Idempotency-Key. Default: false. */
  idempotent?: boolean;
  /** The maximum size of the body in bytes. Default: `MAX_BODY_BYTES`. */
  bodyLimit?: number;
  /** Error statuses in addition to the statuses that every operation has. */
  errors?: readonly (404 | 409)[];
  // Declared as a method, so that operations with different bodies have a common supertype.
  handle(body: z.output<Body>, call: Call<Callers, Context>): Promise<z.output<Answer>>;
}

/**
 * Returns the function that defines operations with a subject's context.
 * @example
 * ```ts
 * const defineOperation = operationsWith<UserContext>();
 * ```
 */
export function operationsWith<Context extends ApiContext>() {
  return <
    const Path extends `/v1/${string}`,
    Body extends z.ZodType,
    Answer extends z.ZodType,
    const Callers extends Caller,
  >(
    operation: Operation<Path, Body, Answer, Callers, Context>,
  ): Operation<Path, Body, Answer, Callers> => operation;
}

const STAFF: readonly Caller[] = ["visitor", "invited", "partnerStaff", "operatorStaff"];

/** Whether the dashboard's page may call the operation. */
export function isForStaff({ callers }: Pick<Operation, "callers">): boolean {
  return callers.some((caller) => STAFF.includes(caller));
}

/** Whether readers may call the operation. All other operations for staff are for administrators. */
export function isForReaders({ callers, reads, role }: Pick<Operation, "callers" | "reads" | "role">): boolean {
  return reads === true || role === "reader" || callers.includes("invited");
}

/** Whether staff must confirm the operation's requests with a passkey. */
export function isVerified({ callers, reads, unverified }: Pick<Operation, "callers" | "reads" | "unverified">) {
  return isForStaff({ callers }) && !callers.includes("visitor") && reads !== true && unverified === undefined;
}

/**
 * Returns the kind of caller with a bearer token, or `public`. Returns undefined if only the dashboard's page calls the
 * operation.
 */
export function tokenCallerOf({ callers }: Pick<Operation, "callers">) {
  return (["public", "partner", "user", "operator"] as const).find((caller) => callers.includes(caller));
}
