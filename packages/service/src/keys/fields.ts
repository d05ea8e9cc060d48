import { z } from "zod";
import { ServiceError } from "../api/base/errors.ts";
import { LOWERCASE_HASH } from "keyroot/internal/ethereum";
import { MERKLE_ROOT } from "keyroot/internal/merkle";
import { KEY_TYPE_NAMES, ROWS } from "keyroot/internal/keyTypeNames";
import { MAX_OFFERED, MAX_WITHDRAWN } from "./conflictingKeys.ts";
import type { ChallengeResponse } from "./possessionCheck.ts";
import { eitherUserID, holdEndsAt, keyState, named, strict, timestamp, userID } from "../api/fields.ts";

export const publicKey = z.string().max(140).meta({
  description:
    "The public key in base64, of the registry's key type. By default, it is an uncompressed point of Curve41417: 105 bytes.",
});
export const keyID = z
  .string()
  .max(24)
  .regex(/^[A-Za-z0-9+/=]*$/)
  .meta({ description: "The key id: the first 16 bytes of the public key's SHA-256, in base64." });
export const root = z
  .string()
  .regex(MERKLE_ROOT)
  .meta({ description: "The root of the Merkle tree that contains the key. Its file is <root>.json." });
export const transaction = z
  .string()
  .regex(LOWERCASE_HASH)
  .meta({ description: "The hash of the transaction that published the root." });
const bytes32 = (description: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/)
    .meta({ description });
/** The number of groups of 3 bytes in the longest signature. */
const MAX_GROUPS = Math.ceil(
  Math.max(...Object.values(ROWS).map((row) => ("signatureBytes" in row ? row.signatureBytes : 0))) / 3,
);
export const response = z
  .string()
  .max(4 * MAX_GROUPS)
  .regex(
    new RegExp(`^(?:[A-Za-z0-9+/]{4}){2,${MAX_GROUPS - 1}}(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)$`),
  )
  .meta({
    description:
      "The response to the challenge, in base64: a MAC of 32 bytes, a signature of 64 bytes, or, for P-256, also a signature in DER of at most 72 bytes. docs/formats.md specifies how to compute it.",
  });
export const challenge = bytes32("The challenge: 32 random bytes in base64.");
const possession = z.enum(["proven", "unproven"]).meta({
  description:
    "`proven` if the user proved possession of the private key at registration, `unproven` if the partner registered the key for the user.",
});
export const keyTypeName = z
  .string()
  .meta({ description: `The type of the registry's keys, one of: ${KEY_TYPE_NAMES.join(", ")}.` });
export const anyState = z.enum(["unregistered", ...keyState.options]);

export const conflictingKeys = z
  .array(
    named("ConflictingKey", "A conflicting key.", {
      public_key: publicKey,
      key_id: keyID,
      at: timestamp.meta({ description: "The time at which the key was offered or withdrawn." }),
      withdrawn: z.boolean().meta({
        description: "true if the key was registered and later withdrawn, false if the service rejected it.",
      }),
    }),
  )
  .meta({
    description: `The user's conflicting keys about which the partner has not decided: at most ${MAX_WITHDRAWN} withdrawn keys, and at most ${MAX_OFFERED} keys that the service rejected.`,
  });
export const keyEvent = named("KeyEvent", "A change of a user's key before its publication.", {
  type: z.enum(["registered", "conflict", "withdrawn", "discarded", "approved"]),
  key_id: keyID,
  at: timestamp,
  after_withdrawal: z
    .boolean()
    .meta({ description: "For `registered`: true if an earlier key was withdrawn or discarded." }),
});
export const keyEvents = z
  .array(keyEvent)
  .meta({ description: "The history of the user's keys: at most 100 events, newest first." });
export const keyNumber = z
  .int()
  .nonnegative()
  .max(2 ** 32 - 2)
  .meta({ description: "The number of the key in the user's account: 0 for the first key." });
/** The key id in a statement. */
export const changedKeyID = z
  .string()
  .max(24)
  .regex(/^(?:void|[A-Za-z0-9+/]{22}==)$/)
  .meta({ description: "The key id of the statement's key, or `void`." });
export const key = {
  public_key: publicKey,
  key_id: keyID,
  possession,
  hold_ends_at: holdEndsAt.optional(),
  state: keyState,
  root: root.optional(),
  transaction: transaction.optional(),
  number: keyNumber.optional(),
  account_file: z.string().optional().meta({
    description:
      "The account file, which proves to a verifier that the key is the newest one. It is present only if users have accounts.",
  }),
};
export const userKey = named("UserKey", "A user's public key as the service states it, unverified.", {
  user_id: userID,
  ...key,
});
export const ofKey = strict({ ...eitherUserID, key_id: keyID });
/** The response after the removal of a key. */
export const noKey = named("RemovedKey", "A key that was removed before its publication.", {
  user_id: userID,
  key_id: keyID,
  state: z.literal("unregistered"),
});
export const keyOrNone = {
  ...key,
  state: anyState,
  public_key: publicKey.optional(),
  key_id: keyID.optional(),
  possession: possession.optional(),
};

/** Returns the response to a challenge in a request. @throws ServiceError FIELD_MISSING if only one field is present */
export function toChallengeResponse(nonce?: string, response?: string): ChallengeResponse | undefined {
  if (nonce !== undefined && response !== undefined) return { nonce, response };
  if (nonce === undefined && response === undefined) return undefined;
  const field = nonce === undefined ? "challenge" : "response";
  const errors = [{ field, detail: "is missing" }];
  throw new ServiceError(400, "FIELD_MISSING", `The request is invalid: ${field} is missing.`, { errors });
}
