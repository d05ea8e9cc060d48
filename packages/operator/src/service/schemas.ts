import { z } from "zod";
import { REGIONS } from "keyroot/identity";

/** The longest context of a user's token and the longest name, in characters. */
const MOST_TEXT = 200;
/** The most users of one page. */
const MOST_USERS = 1000;

const strict = z.strictObject;

const userIDHex = z
  .string()
  .regex(/^[0-9a-fA-F]{40}$/)
  .toLowerCase()
  .meta({ description: "The user's id: 160 bits as 40 hex digits in either case.", example: "8e4f1d0a".repeat(5) });
const userID = z
  .string()
  .regex(/^[ybndrfg8ejkmcpqxot1uwisza345h769]{32}$/)
  .meta({ description: "The user's id: the same 160 bits as 32 characters of zBase32.", example: "y".repeat(32) });
const region = z.enum(REGIONS).meta({ description: "Where the user's data is: Oregon or Ireland." });
const bizID = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[\x21-\x7e]*$/)
  .meta({ description: "The partner company." });
const tokenID = z.uuid().meta({ description: "Names a refresh token without being one." });
const moment = z
  .int()
  .nonnegative()
  .meta({ description: "Milliseconds since 1970-01-01, UTC.", example: 1_800_000_000_000 });
const revoked = moment.nullable().meta({ description: "When it was revoked; null while it stands." });
const visible = (what: string) =>
  z
    .string()
    .min(1)
    .max(MOST_TEXT)
    // Neither control characters, of which PostgreSQL's texts have no NUL, nor halves of characters, which have no UTF-8.
    .regex(/^[^\p{Cc}\p{Cs}]*$/u)
    .meta({ description: `${what}, at most ${MOST_TEXT} characters.` });
const context = visible("The device or purpose of a user's refresh token");
const name = visible("A name for people");
const pubKey = z
  .string()
  .max(140)
  .meta({ description: "The public key in base64: 105 bytes, an uncompressed point of Curve41417." });
const keyID = z.string().max(24).meta({ description: "The first 16 bytes of SHA-256 over the key, in base64." });
const root = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ description: "The root of the Merkle tree that holds the key, which names its file." });
const transaction = z.string().meta({ description: "The transaction that published the key's root." });
const keyState = z.enum(["pending", "submitted", "published"]);

const user = {
  user_id: userID,
  bucket: z.string().meta({ description: "The user's storage container: <prefix>-<stage>-<region>-<user_id>." }),
  region,
  stage: z.string().meta({ description: "The deployment stage." }),
  salt: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .meta({ description: "A value of this user, 32 hex digits." }),
  created: moment,
};
const userToken = strict({ token_id: tokenID, context, created: moment, revoked });
const serverToken = strict({ token_id: tokenID, name: name.nullable(), created: moment, revoked });
const key = { pubKey, keyID, state: keyState, root: root.optional(), transaction: transaction.optional() };
const none = strict({});

/** What the operations take and answer; the OpenAPI description is made of the same. */
export const schemas = {
  exchange: {
    body: strict({ biz_id: bizID, token: z.string().min(1).max(128).meta({ description: "A refresh token." }) }),
    answer: strict({ jwt: z.string().meta({ description: "The access token, good for four hours." }) }),
  },
  createUser: {
    body: strict({ user_id_hex: userIDHex, region }),
    answer: strict({ status: z.literal(201), ...user }),
  },
  createRefreshToken: {
    body: strict({ user_id_hex: userIDHex, context }),
    answer: strict({ token: z.string().meta({ description: "The user's refresh token, shown this once." }) }),
  },
  getUser: { body: strict({ user_id_hex: userIDHex }), answer: strict(user) },
  listUsers: {
    body: strict({ limit: z.int().min(1).max(MOST_USERS).default(100), after: userID.optional() }),
    answer: strict({
      users: z.array(strict(user)),
      next: userID.nullable().meta({ description: "Give it as `after` for the next page; null on the last." }),
    }),
  },
  listRefreshTokens: {
    body: strict({ user_id_hex: userIDHex }),
    answer: strict({ tokens: z.array(userToken) }),
  },
  revokeRefreshToken: { body: strict({ user_id_hex: userIDHex, token_id: tokenID }), answer: userToken },
  listServerTokens: { body: none, answer: strict({ tokens: z.array(serverToken) }) },
  revokeServerToken: { body: strict({ token_id: tokenID }), answer: serverToken },
  registerKey: {
    body: strict({ pubKey, keyID }),
    answer: strict({ ...user, ...key }),
  },
  getRecord: {
    body: none,
    answer: strict({
      ...user,
      ...key,
      state: z.enum(["unregistered", ...keyState.options]),
      pubKey: pubKey.optional(),
      keyID: keyID.optional(),
    }),
  },
  getPublicKey: { body: strict({ user_id: userID }), answer: strict({ user_id: userID, ...key }) },
  createPartner: { body: strict({ name }), answer: strict({ biz_id: bizID, name, created: moment }) },
  createServerToken: {
    body: strict({ biz_id: bizID, name: name.optional() }),
    answer: strict({
      token_id: tokenID,
      token: z.string().meta({ description: "The partner's refresh token, shown this once." }),
      name: name.nullable(),
      created: moment,
    }),
  },
  publish: {
    body: none,
    answer: strict({
      batches: z.array(
        strict({
          root,
          users: z.int().nonnegative().meta({ description: "How many users have this root now." }),
          transaction,
          block: z.int().nonnegative().meta({ description: "The block of the transaction." }),
        }),
      ),
    }),
  },
} as const;

/** RFC 9457: what every refusal looks like. */
export const problemSchema = strict({
  type: z.string().meta({ description: "urn:keyroot:error:<code>" }),
  title: z.string(),
  status: z.int(),
  code: z.string().meta({ description: "A stable name for what is wrong." }),
  detail: z.string(),
  instance: z.string().meta({ description: "The request's id, as the service's log has it." }),
  errors: z.array(strict({ field: z.string(), detail: z.string() })).optional(),
}).meta({ id: "Problem", description: "A refusal, as RFC 9457 describes it." });
