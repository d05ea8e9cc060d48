import { z } from "zod";
import { REGIONS } from "keyroot/identity";
import { MERKLE_ROOT } from "keyroot/merkle";
import { ROLES } from "../store/staffTables.ts";

/** The maximum size of a request's body. The largest valid request is far smaller. */
export const MAX_BODY_BYTES = 16_384;
/** The maximum number of users in a list to create. */
const MAX_LIST = 500;
/**
 * The maximum size of a body with such a list: a user takes at most 1,310 bytes, if every character of its context is escaped
 * (RFC 8259, section 7).
 */
export const MAX_LIST_BODY_BYTES = MAX_LIST * 1536;

/** The maximum length of a token's context and of a name, in characters. */
const MAX_TEXT = 200;
/** The highest limit of a partner's users: the largest value of PostgreSQL's `integer`. */
const MAX_USERS = 2 ** 31 - 1;
/** The maximum number of items per page. */
const MAX_PAGE = 1000;

/** 32 characters of zBase32. */
export const USER_ID_FORM = /^[ybndrfg8ejkmcpqxot1uwisza345h769]{32}$/;

export const strict = z.strictObject;

export const userIDHex = z
  .string()
  .regex(/^[0-9a-fA-F]{40}$/)
  .toLowerCase()
  .meta({ description: "The user's id: 160 bits as 40 hex digits in either case.", example: "8e4f1d0a".repeat(5) });
const userID = z
  .string()
  .regex(USER_ID_FORM)
  .meta({ description: "The user's id: the same 160 bits as 32 characters of zBase32.", example: "y".repeat(32) });
const region = z.enum(REGIONS).meta({ description: "Where the user's data is stored: Oregon or Ireland." });
export const bizID = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[\x21-\x7e]*$/)
  .meta({ description: "The business identifier of the partner." });
const tokenID = z.uuid().meta({ description: "The id of a refresh token. It is not a secret." });
export const timestamp = z
  .int()
  .nonnegative()
  .meta({ description: "Milliseconds since 1970-01-01, UTC.", example: 1_800_000_000_000 });
const revoked = timestamp.nullable().meta({ description: "When the token was revoked; null while it is active." });
const lastUsed = timestamp.nullable().meta({
  description:
    "The beginning of the hour in which the token was last used, some seconds late; null before its first use.",
});
const text = (what: string) =>
  z
    .string()
    .min(1)
    .max(MAX_TEXT)
    // No control characters (PostgreSQL cannot store NUL) and no unpaired surrogates (UTF-8 cannot encode them).
    .regex(/^[^\p{Cc}\p{Cs}]*$/u)
    .meta({ description: `${what}, at most ${MAX_TEXT} characters.` });
const context = text("The device or purpose of a user's refresh token");
const name = text("A human-friendly name");
const role = z.enum(ROLES).meta({ description: "What the person may do in the dashboard: everything, or look only." });
const pubKey = z
  .string()
  .max(140)
  .meta({ description: "The public key in base64: 105 bytes, an uncompressed point of Curve41417." });
const keyID = z
  .string()
  .max(24)
  .regex(/^[A-Za-z0-9+/=]*$/)
  .meta({ description: "The first 16 bytes of SHA-256 over the public key, in base64." });
const root = z
  .string()
  .regex(MERKLE_ROOT)
  .meta({ description: "The root of the Merkle tree that contains the key, and the name of its file." });
const transaction = z.string().meta({ description: "The hash of the transaction that published the root." });
const bytes32 = (description: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/)
    .meta({ description });
const challenge = bytes32("The challenge: 32 random bytes in base64.");
const possession = z
  .enum(["proven", "unproven"])
  .meta({ description: "Whether the user proved to hold the private key when the key was registered." });
const keyState = z.enum(["pending", "submitted", "published"]);

const user = {
  user_id: userID,
  bucket: z
    .string()
    .meta({ description: "The name of the user's storage container: <prefix>-<stage>-<region>-<user_id>." }),
  region,
  stage: z.string().meta({ description: "The name of the deployment stage." }),
  salt: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .meta({ description: "A random value of this user, 32 hex digits." }),
  created: timestamp,
};
const refreshToken = z.string().meta({ description: "The user's refresh token. It is shown only once." });
export const limit = z.int().min(1).max(MAX_PAGE).default(100).meta({ description: "The size of the page." });
const nextToken = tokenID
  .nullable()
  .meta({ description: "Send it as `after` to get the next page; null on the last page." });
const userToken = strict({ token_id: tokenID, context, created: timestamp, revoked, last_used: lastUsed });
const serverToken = strict({
  token_id: tokenID,
  name: name.nullable(),
  created: timestamp,
  revoked,
  last_used: lastUsed,
});
const publishableAt = timestamp.nullable().meta({
  description:
    "Of a pending key: the earliest time of publication. Until then it can be withdrawn. Null while the partner must decide, because another key was offered for the user.",
});
const otherKeys = z
  .array(
    strict({
      pubKey,
      keyID,
      offered: timestamp,
      withdrawn: z
        .boolean()
        .meta({ description: "Whether the key was registered and withdrawn. Otherwise it was refused." }),
    }),
  )
  .meta({ description: "Other keys that were offered for this user, until the partner decides. At most 10." });
const keyEvents = z
  .array(
    strict({
      type: z.enum(["registered", "offered", "withdrawn", "discarded", "approved"]),
      keyID,
      at: timestamp,
      after_withdrawal: z
        .boolean()
        .meta({ description: "Of `registered`: whether an earlier key was withdrawn or discarded." }),
    }),
  )
  .meta({ description: "What happened to the user's keys, the newest first. At most 100." });
const key = {
  pubKey,
  keyID,
  possession,
  publishableAt: publishableAt.optional(),
  state: keyState,
  root: root.optional(),
  transaction: transaction.optional(),
};
const empty = strict({});
const userLimit = z.int().nonnegative().max(MAX_USERS);
const number = (what: string) =>
  z
    .int()
    .nonnegative()
    .meta({ description: `The number of ${what}.` });
const partner = strict({
  biz_id: bizID,
  name,
  created: timestamp,
  suspended: timestamp.nullable().meta({ description: "When the partner was suspended; null if it is not." }),
  user_limit: userLimit
    .nullable()
    .meta({ description: "The most users that the partner may have; null for any number." }),
  users: number("its users"),
  pending_keys: number("registered public keys that are not on the chain"),
  published_keys: number("public keys on the chain"),
  server_tokens: number("active refresh tokens of its servers"),
});

const invitation = strict({
  person_id: z.uuid().meta({ description: "The id of the person." }),
  name,
  role,
  url: z.string().meta({ description: "The link for the person. It works once, and is shown only once." }),
  expires: timestamp.meta({ description: "When the link expires, in milliseconds since 1970-01-01, UTC." }),
});

/** The bodies of requests and successful responses. The OpenAPI description is generated from them. */
export const schemas = {
  exchange: {
    body: strict({ biz_id: bizID, token: z.string().min(1).max(128).meta({ description: "A refresh token." }) }),
    response: strict({ jwt: z.string().meta({ description: "The access token. It expires after four hours." }) }),
  },
  createUser: {
    body: strict({ user_id_hex: userIDHex, region }),
    response: strict({ status: z.literal(201), ...user }),
  },
  createUsers: {
    body: strict({
      users: z
        .array(strict({ user_id_hex: userIDHex, region, context: context.optional() }))
        .min(1)
        .max(MAX_LIST)
        .meta({ description: "The users. Those with a `context` get a refresh token for this device or purpose." }),
    }),
    response: strict({
      users: z
        .array(
          z.union([
            strict({ status: z.literal(201), ...user, token: refreshToken.optional() }),
            strict({
              status: z.int().min(400).max(499).meta({ description: "The HTTP status that fits the error." }),
              code: z.string().meta({ description: "A stable identifier of the error." }),
              detail: z.string().meta({ description: "What is wrong, and what to do." }),
            }),
          ]),
        )
        .max(MAX_LIST)
        .meta({ description: "The result for each user, in the order of the request: the user, or the error." }),
    }),
  },
  createRefreshToken: {
    body: strict({ user_id_hex: userIDHex, context }),
    response: strict({ token: refreshToken }),
  },
  deactivateUser: {
    body: strict({ user_id_hex: userIDHex }),
    response: strict({ user_id: userID, deactivated: timestamp }),
  },
  eraseUser: {
    body: strict({ user_id_hex: userIDHex }),
    response: strict({
      user_id: userID,
      erased: timestamp,
      key: z.enum(["deleted", "remains"]).meta({
        description: "`remains` if the user's public key is on the chain or about to be: it cannot be deleted.",
      }),
    }),
  },
  getUser: { body: strict({ user_id_hex: userIDHex }), response: strict(user) },
  listUsers: {
    body: strict({ limit, after: userID.optional() }),
    response: strict({
      users: z.array(strict(user)),
      next: userID.nullable().meta({ description: "Send it as `after` to get the next page; null on the last page." }),
    }),
  },
  listRefreshTokens: {
    body: strict({ user_id_hex: userIDHex, limit, after: tokenID.optional() }),
    response: strict({ tokens: z.array(userToken), next: nextToken }),
  },
  revokeRefreshToken: { body: strict({ user_id_hex: userIDHex, token_id: tokenID }), response: userToken },
  listServerTokens: {
    body: strict({ limit, after: tokenID.optional() }),
    response: strict({ tokens: z.array(serverToken), next: nextToken }),
  },
  revokeServerToken: { body: strict({ token_id: tokenID }), response: serverToken },
  challengeKey: {
    body: strict({ pubKey, keyID }),
    response: strict({
      user_id: userID,
      state: z.enum(["unregistered", ...keyState.options]).meta({
        description: "The other fields are present if the user has no key yet. A registered key needs no challenge.",
      }),
      challenge: challenge.optional(),
      ephemeralKey: z
        .string()
        .optional()
        .meta({ description: "The service's public key for this challenge: 105 bytes in base64." }),
      expires: timestamp.optional(),
      service: z.string().optional().meta({
        description: "The URL of the service. Compare it with your own configuration, and never use it in a response.",
      }),
      chainId: z.int().nullable().optional().meta({
        description: "The chain where the service publishes keys; null if it publishes none. Only compare it.",
      }),
      contract: z.string().nullable().optional().meta({
        description: "The contract where the service publishes keys; null if it publishes none. Only compare it.",
      }),
    }),
  },
  registerKey: {
    body: strict({
      pubKey,
      keyID,
      challenge: challenge.optional(),
      response: bytes32("The response to the challenge: 32 bytes in base64. docs/formats.md specifies it.").optional(),
    }),
    response: strict({ ...user, ...key, otherKeys }),
  },
  getRecord: {
    body: empty,
    response: strict({
      ...user,
      ...key,
      state: z.enum(["unregistered", ...keyState.options]),
      pubKey: pubKey.optional(),
      keyID: keyID.optional(),
      possession: possession.optional(),
      otherKeys,
    }),
  },
  withdrawKey: {
    body: strict({ keyID }),
    response: strict({ user_id: userID, keyID, state: z.literal("unregistered") }),
  },
  getKeyOfUser: {
    body: strict({ user_id_hex: userIDHex }),
    response: strict({
      user_id: userID,
      ...key,
      state: z.enum(["unregistered", ...keyState.options]),
      pubKey: pubKey.optional(),
      keyID: keyID.optional(),
      possession: possession.optional(),
      otherKeys,
      events: keyEvents,
    }),
  },
  discardKey: {
    body: strict({ user_id_hex: userIDHex, keyID }),
    response: strict({ user_id: userID, keyID, state: z.literal("unregistered") }),
  },
  approveKey: {
    body: strict({ user_id_hex: userIDHex, keyID }),
    response: strict({ user_id: userID, ...key }),
  },
  getPublicKey: { body: strict({ user_id: userID }), response: strict({ user_id: userID, ...key }) },
  createPartner: { body: strict({ name }), response: strict({ biz_id: bizID, name, created: timestamp }) },
  getPartner: { body: strict({ biz_id: bizID }), response: partner },
  listPartners: {
    body: strict({
      search: text("A part of the name, in any case, or the beginning of the biz_id").optional(),
      limit,
      after: bizID.optional(),
    }),
    response: strict({
      partners: z.array(partner),
      next: bizID.nullable().meta({ description: "Send it as `after` to get the next page; null on the last page." }),
    }),
  },
  suspendPartner: { body: strict({ biz_id: bizID }), response: partner },
  resumePartner: { body: strict({ biz_id: bizID }), response: partner },
  setUserLimit: {
    body: strict({
      biz_id: bizID,
      user_limit: userLimit.optional().meta({ description: "The limit. Without it, any number of users is allowed." }),
    }),
    response: partner,
  },
  listServerTokensOf: {
    body: strict({ biz_id: bizID, limit, after: tokenID.optional() }),
    response: strict({ tokens: z.array(serverToken), next: nextToken }),
  },
  revokeAnyServerToken: {
    body: strict({ token_id: tokenID }),
    response: strict({ biz_id: bizID, ...serverToken.shape }),
  },
  createServerToken: {
    body: strict({ biz_id: bizID, name: name.optional() }),
    response: strict({
      token_id: tokenID,
      token: z.string().meta({ description: "The partner's refresh token. It is shown only once." }),
      name: name.nullable(),
      created: timestamp,
    }),
  },
  inviteStaff: {
    body: strict({ biz_id: bizID, name, role: role.default("administrator") }),
    response: invitation,
  },
  inviteOperator: { body: strict({ name, role: role.default("administrator") }), response: invitation },
  publish: {
    body: empty,
    response: strict({
      batches: z.array(
        strict({
          root,
          users: z.int().nonnegative().meta({ description: "The number of users who now have this root." }),
          transaction,
          block: z.int().nonnegative().meta({ description: "The number of the transaction's block." }),
        }),
      ),
    }),
  },
} as const;

/** The body of every error response (RFC 9457). */
export const problemSchema = strict({
  type: z.string().meta({ description: "urn:keyroot:error:<code>" }),
  title: z.string().meta({ description: "The code in words." }),
  status: z.int().min(400).max(599).meta({ description: "The HTTP status." }),
  code: z.string().meta({ description: "A stable identifier of the error." }),
  detail: z.string().meta({ description: "What is wrong, and what to do." }),
  instance: z.string().meta({ description: "The id of the request, which the service's log contains." }),
  errors: z
    .array(strict({ field: z.string(), detail: z.string() }))
    .optional()
    .meta({ description: "The invalid fields." }),
  state: keyState.optional().meta({ description: "The state of the key that the user has." }),
  publishableAt: publishableAt.optional(),
}).meta({ id: "Problem", description: "An error (RFC 9457)." });
