import { answerFrom } from "../api/answerFrom.ts";
import { z } from "zod";
import { bytesToBase64 } from "keyroot/internal/bytes";
import { ServiceError } from "../api/base/errors.ts";
import { type KeyType, toKeyRecord } from "keyroot/internal/identity";
import { KEY_TYPE_NAMES } from "keyroot/internal/keyTypeNames";
import type { ApiContext } from "../api/context.ts";
import { type Call, type Caller, operationsWith } from "../api/defineOperation.ts";
import { bizID, eitherUserID, empty, named, strict, timestamp, userID, userIDOf } from "../api/fields.ts";
import { callingUser, requireUser, toUser, userFields } from "../users/operations.ts";
import { serviceOf } from "./serviceOf.ts";
import type { User } from "../users/newUser.ts";
import {
  publicKey,
  keyID,
  challenge,
  anyState,
  conflictingKeys,
  keyEvent,
  keyEvents,
  key,
  userKey,
  ofKey,
  noKey,
  keyOrNone,
  response,
  toChallengeResponse,
} from "./fields.ts";
import type { KeyRegistration } from "./keyRegistration.ts";
import type { UserStore } from "../users/users.ts";
import { listKeyEvents } from "./keyEvents.ts";
import { type ConflictingKey, listUndecided } from "./conflictingKeys.ts";
import type { PublicKeyStore, RegisteredKey } from "./publicKeys.ts";
import { approveKey, type DecisionOutcome, withdrawOrDiscardKey } from "./decideKey.ts";

export interface KeyContext extends ApiContext {
  users: UserStore;
  publicKeys: PublicKeyStore;
  registration: KeyRegistration;
  keyType: KeyType;
  /** Reads users' current keys with their account files. Undefined if users have no accounts. */
  accounts: { getKey: (user: User) => Promise<AccountKey | undefined> } | undefined;
}

/** A user's current key. With accounts, also its number and the account file. */
interface AccountKey {
  key: RegisteredKey;
  number?: number;
  file?: string;
}

const defineOperation = operationsWith<KeyContext>();

export const keyOperations = [
  defineOperation({
    path: "/v1/authdUser/publicKey/challenge",
    callers: ["user"],
    summary: "Request a challenge for a public key that the user wants to register",
    description:
      "To prove possession of the private key, the app answers the challenge in publicKey/register. A challenge can be answered only once, and within 5 minutes. Before the service returns one, it checks the key's length, curve, subgroup and id.",
    body: strict({ public_key: publicKey, key_id: keyID }),
    answer: named("Challenge", "A challenge for a key, or the key's state if the user has already registered it.", {
      user_id: userID,
      state: anyState.meta({
        description:
          "The state of the user's key. `challenge`, `ephemeral_key` and `expires` are present only if the user has no key yet, because a registered key needs no challenge.",
      }),
      challenge: challenge.optional(),
      key_type: z
        .string()
        .optional()
        .meta({
          description: `The type of the registry's keys, one of: ${KEY_TYPE_NAMES.join(", ")}. Compare it with your configuration, and never configure an app from it.`,
        }),
      ephemeral_key: z.string().optional().meta({
        description:
          "The service's public key for this challenge, in base64, with the length of the registry's keys. Absent if the response is a signature.",
      }),
      expires: timestamp.optional(),
      service: z.string().optional().meta({
        description:
          "The URL of the service. Compare it with your configuration, and compute the response with your own value.",
      }),
      chain_id: z.int().nullable().optional().meta({
        description:
          "The id of the chain on which the service publishes keys. Null if the service does not publish. Compare it with your configuration, and compute the response with your own value.",
      }),
      contract: z.string().nullable().optional().meta({
        description:
          "The contract in which the service publishes keys. Null if the service does not publish. Compare it with your configuration, and compute the response with your own value.",
      }),
    }),
    errors: [404, 409],
    async handle({ public_key: pubKey, key_id: keyID }, { context, principal, author, request }) {
      const { userID } = principal;
      context.registration.requireAttempt(userID);
      const user = await callingUser(context, principal);
      const record = toKeyRecord({ userID, pubKey, keyID }, context.keyType);
      const made = await context.registration.challenge(user, record, serviceOf(context, request), author);
      return toChallenge(user, made, context);
    },
  }),

  defineOperation({
    path: "/v1/authdUser/publicKey/register",
    callers: ["user"],
    summary: "Register the user's public key permanently",
    description:
      "The request must contain the response to a challenge. Repeating the request has no effect. If the user already has a different key, the request is rejected.",
    body: strict({
      public_key: publicKey,
      key_id: keyID,
      challenge: challenge.optional(),
      response: response.optional(),
    }),
    answer: named("RegisteredKey", "A user's own record with the registered key.", {
      ...userFields,
      ...key,
      conflicting_keys: conflictingKeys,
    }),
    errors: [404, 409],
    async handle({ public_key: pubKey, key_id: keyID, challenge, response }, { context, principal, author, request }) {
      const user = await callingUser(context, principal);
      const record = toKeyRecord({ userID: user.userID, pubKey, keyID }, context.keyType);
      const answer = toChallengeResponse(challenge, response);
      const service = serviceOf(context, request);
      const registered = await context.registration.register(user, record, answer, service, author);
      const conflicts = await listUndecided(context.databases, user);
      return { ...toUser(user, context), ...toKey(registered), conflicting_keys: conflicts.map(toConflictingKey) };
    },
  }),

  defineOperation({
    path: "/v1/authdUser/publicKey/withdraw",
    callers: ["user"],
    duringSuspension: true,
    summary: "Withdraw the user's public key while it is pending",
    description: "The user then has no key and can register one again. Repeating the request has no effect.",
    body: strict({ key_id: keyID }),
    answer: noKey,
    errors: [404, 409],
    async handle({ key_id }, { context, principal, author }) {
      const user = await callingUser(context, principal);
      checkOutcome(await withdrawOrDiscardKey(context.databases, user, key_id, context.now(), "key.withdrawn", author));
      return { user_id: user.userID, key_id, state: "unregistered" as const };
    },
  }),

  defineOperation({
    path: "/v1/authdUser/record/get",
    callers: ["user"],
    duringSuspension: true,
    summary: "Get the user's own record, with the state of its public key",
    body: empty,
    answer: named("UserRecord", "A user's own record. It contains a key unless its state is `unregistered`.", {
      ...userFields,
      ...keyOrNone,
      conflicting_keys: conflictingKeys,
    }),
    errors: [404, 409],
    async handle(_body, { context, principal }) {
      const user = await callingUser(context, principal);
      return { ...toUser(user, context), ...(await getKeyOrNone(context, user)) };
    },
  }),

  defineOperation({
    path: "/v1/authdUser/publicKey/get",
    callers: ["user"],
    summary: "Get the public key of another user of the same partner",
    description: "Verify the key against the chain before you use it.",
    body: strict({ user_id: userID }),
    answer: userKey,
    errors: [404, 409],
    async handle({ user_id }, { context, principal: { bizID } }) {
      const user = await requireUser(context, bizID, user_id);
      const found = await getKey(context, user);
      return { user_id, ...toAccountKey(found ?? keyUnknown("The user has not registered a public key.")) };
    },
  }),

  defineOperation({
    path: "/v1/authdBizSrv/publicKeys/register",
    callers: ["partner"],
    summary: "Register the hash of a user's document permanently",
    description:
      "Use it only for registries with the key type `document`, because users register keys of other types themselves. The hold period applies. Repeating the request has no effect.",
    body: strict({ ...eitherUserID, public_key: publicKey, key_id: keyID }),
    answer: userKey,
    errors: [404, 409],
    async handle({ public_key: pubKey, key_id: keyID, ...id }, { context, principal, author }) {
      const user = await requireUser(context, principal.bizID, userIDOf(id));
      const record = toKeyRecord({ userID: user.userID, pubKey, keyID }, context.keyType);
      return { user_id: user.userID, ...toKey(await context.registration.registerForUser(user, record, author)) };
    },
  }),

  defineOperation({
    path: "/v1/authdBizSrv/publicKeys/get",
    callers: ["partner", "partnerStaff"],
    reads: true,
    summary: "Get a user's public key with its state, the conflicting keys, and the history",
    body: strict(eitherUserID),
    answer: named(
      "KeyOfUser",
      "A user's key as the service states it to the partner, unverified. It is present unless the state is `unregistered`.",
      { user_id: userID, ...keyOrNone, conflicting_keys: conflictingKeys, events: keyEvents },
    ),
    errors: [404, 409],
    async handle(id, { context, principal }) {
      const user = await requireUser(context, principal.bizID, userIDOf(id));
      const [found, events] = await Promise.all([
        getKeyOrNone(context, user),
        listKeyEvents(context.databases.regions[user.region], user.userID),
      ]);
      return { user_id: user.userID, ...found, events: events.map((row) => answerFrom(keyEvent, row)) };
    },
  }),

  defineOperation({
    path: "/v1/authdBizSrv/publicKeys/discard",
    callers: ["partner", "partnerStaff"],
    duringSuspension: true,
    summary: "Discard a user's public key while it is pending",
    description:
      "The user then has no key and can register one again. The user's earlier conflicting keys need no decision any more. Repeating the request has no effect.",
    body: ofKey,
    answer: noKey,
    errors: [404, 409],
    handle: (body, call) => discard(call.principal.bizID, body, call),
  }),

  defineOperation({
    path: "/v1/admin/publicKeys/discard",
    callers: ["operator", "operatorStaff"],
    summary: "Discard the pending public key of a partner's user, even while the partner is suspended",
    body: strict({ biz_id: bizID, ...ofKey.shape }),
    answer: noKey,
    errors: [404, 409],
    handle: ({ biz_id, ...body }, call) => discard(biz_id, body, call),
  }),

  defineOperation({
    path: "/v1/authdBizSrv/publicKeys/approve",
    callers: ["partner", "partnerStaff"],
    summary: "Approve a user's pending public key that has conflicting keys",
    description: "The key is published when its hold period is over. Repeating the request has no effect.",
    body: ofKey,
    answer: userKey,
    errors: [404, 409],
    async handle({ key_id, ...id }, { context, principal, author }) {
      const user = await requireUser(context, principal.bizID, userIDOf(id));
      checkOutcome(await approveKey(context.databases, user, key_id, context.now(), author));
      const found = await context.publicKeys.get(user.region, user.userID);
      return {
        user_id: user.userID,
        ...toKey(found ?? keyUnknown("The user's public key was withdrawn in the meantime.")),
      };
    },
  }),
];

/** Discards the pending key of a partner's user. @throws ServiceError USER_UNKNOWN, and the codes of `checkOutcome` */
async function discard(
  bizID: string,
  { key_id, ...id }: z.output<typeof ofKey>,
  { context, author }: Pick<Call<Caller, KeyContext>, "context" | "author">,
) {
  const user = await requireUser(context, bizID, userIDOf(id));
  checkOutcome(await withdrawOrDiscardKey(context.databases, user, key_id, context.now(), "key.discarded", author));
  return { user_id: user.userID, key_id, state: "unregistered" as const };
}

function keyUnknown(message: string): never {
  throw new ServiceError(404, "PUBLIC_KEY_UNKNOWN", message);
}

/** @throws ServiceError PUBLIC_KEY_UNKNOWN, PUBLIC_KEY_SUBMITTED unless the outcome is `done` */
function checkOutcome(outcome: DecisionOutcome): void {
  if (outcome === "unknown") keyUnknown("The user has no public key with this key_id.");
  if (outcome === "done") return;
  const message =
    "The key is being published or is on the chain. It can no longer be withdrawn, discarded or approved.";
  throw new ServiceError(409, "PUBLIC_KEY_SUBMITTED", message);
}

/** Returns the user's key, or the state `unregistered`, with the user's conflicting keys. */
async function getKeyOrNone(context: KeyContext, user: User) {
  const [found, conflicts] = await Promise.all([getKey(context, user), listUndecided(context.databases, user)]);
  const fields = found === undefined ? { state: "unregistered" as const } : toAccountKey(found);
  return { ...fields, conflicting_keys: conflicts.map(toConflictingKey) };
}

/** Returns the user's current key. */
async function getKey({ publicKeys, accounts }: KeyContext, user: User): Promise<AccountKey | undefined> {
  if (accounts !== undefined) return accounts.getKey(user);
  const key = await publicKeys.get(user.region, user.userID);
  return key && { key };
}

function toAccountKey({ key, number, file }: AccountKey) {
  return { ...toKey(key), ...(file !== undefined && { number, account_file: file }) };
}

function toKey({ pubKey, keyID, possession, state, holdEndsAt, root, transaction }: RegisteredKey) {
  return {
    ...{ public_key: pubKey, key_id: keyID, possession, state },
    ...(state === "pending" && { hold_ends_at: holdEndsAt }),
    ...(root !== undefined && { root }),
    ...(transaction !== undefined && { transaction }),
  };
}

function toConflictingKey({ pubKey, keyID, offered, withdrawn }: ConflictingKey) {
  return { public_key: pubKey, key_id: keyID, at: offered, withdrawn };
}

/** Converts a challenge to a response body, which contains only the state for a registered key. */
function toChallenge(
  { userID }: User,
  made: Awaited<ReturnType<KeyRegistration["challenge"]>>,
  { keyType }: Pick<KeyContext, "keyType">,
) {
  const { service, registry } = made;
  const registration = { service, chain_id: registry?.chainId ?? null, contract: registry?.contract ?? null };
  const fields = { user_id: userID, key_type: keyType.name, ...registration };
  if ("state" in made) return { ...fields, state: made.state };
  const { nonce, ephemeralKey, expires } = made;
  return {
    ...fields,
    state: "unregistered" as const,
    challenge: bytesToBase64(nonce),
    ...(ephemeralKey.length > 0 && { ephemeral_key: bytesToBase64(ephemeralKey) }),
    expires,
  };
}
