import { z } from "zod";
import { schemas } from "../http/schemas.ts";
import { webhookSchemas } from "../http/webhookSchemas.ts";
import { BATCH_CURSOR } from "../store/batches.ts";
import { ROLES } from "../store/staffTables.ts";

const strict = z.strictObject;
const timestamp = z.int().nonnegative();
const { name } = schemas.createPartner.body.shape;
const { limit } = schemas.listServerTokens.body.shape;
const amount = z.int().nonnegative();
/** Decimal digits, because JSON numbers are not exact. */
const wei = z.string();
/** The code of an error; null without one. */
const code = z.string().nullable();
const { biz_id } = schemas.getPartner.body.shape;
const role = z.enum(ROLES);
const base64url = z
  .string()
  .min(1)
  .max(8000)
  .regex(/^[A-Za-z0-9_-]+$/);

const answer = <Shape extends z.core.$ZodLooseShape>(response: Shape) =>
  strict({ id: base64url, rawId: base64url, type: z.literal("public-key"), response: strict(response) });

const person = strict({ person_id: z.uuid(), name, role });
const invitation = strict({ ...person.shape, url: z.string(), expires: timestamp });
const personID = strict({ person_id: z.uuid() });
const { user_id, region, created } = schemas.getUser.response.shape;
const user = strict({ user_id, region, created, deactivated: timestamp.nullable() });
const { state, possession, keyID, root, transaction } = schemas.getPublicKey.response.shape;
const key = strict({
  ...{ state, possession, keyID },
  /** Of a pending key; null while the partner must decide. */
  publishable_at: timestamp.nullable(),
  root: root.unwrap().nullable(),
  transaction: transaction.unwrap().nullable(),
  /** Other keys, about which the partner has not decided: offered and refused, or withdrawn. */
  other_keys: z.array(strict({ keyID, offered: timestamp, withdrawn: z.boolean() })),
});
const publishRun = strict({
  started: timestamp,
  /** Null while it runs. */
  ended: timestamp.nullable(),
  batches: schemas.publish.response.shape.batches,
  error: code,
});
/** What the library or the browser defines, not this service. */
const options = z.looseObject({ challenge: z.string() });

/** The bodies of the dashboard's calls and their responses. */
export const calls = {
  empty: strict({}),
  options,
  accept: strict({ token: z.string().min(1).max(64) }),
  me: strict({
    person,
    /** Null for people of the operator. */
    partner: strict({ biz_id: z.string(), name, suspended: z.boolean() }).nullable(),
    /** Where keys are verified; null if the service does not know an explorer. */
    explorer_url: z.string().nullable(),
    passkeys: z.int().nonnegative(),
  }),
  registration: strict({
    answer: answer({
      clientDataJSON: base64url,
      attestationObject: base64url,
      transports: z.array(z.enum(["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"])).max(8),
    }),
  }),
  authentication: strict({
    answer: answer({
      clientDataJSON: base64url,
      authenticatorData: base64url,
      signature: base64url,
      userHandle: base64url.nullish(),
    }),
  }),
  passkeys: strict({
    passkeys: z.array(strict({ passkey_id: z.string(), created: timestamp, last_used: timestamp.nullable() })),
  }),
  passkeyID: strict({ passkey_id: base64url }),
  listStaff: strict({ limit, after: name.optional() }),
  staff: strict({
    people: z.array(
      strict({
        ...person.shape,
        created: timestamp,
        last_sign_in: timestamp.nullable(),
        invitation_expires: timestamp.nullable(),
        passkeys: z.int().nonnegative(),
      }),
    ),
    next: name.nullable(),
  }),
  invite: strict({ name, role }),
  invitation,
  createServerToken: schemas.createServerToken.body.omit({ biz_id: true }),
  listUsers: {
    body: schemas.listUsers.body,
    response: strict({ users: z.array(user), next: schemas.listUsers.response.shape.next }),
  },
  getUser: { body: schemas.getUser.body, response: strict({ user, key: key.nullable() }) },
  discardKey: { body: schemas.discardKey.body, response: strict({}) },
  approveKey: { body: schemas.approveKey.body, response: strict({}) },
  createUser: { body: schemas.createUser.body, response: user },
  listUserTokens: schemas.listRefreshTokens,
  createUserToken: {
    body: schemas.createRefreshToken.body,
    response: strict({ token_id: z.uuid(), token: z.string(), context: z.string(), created: timestamp }),
  },
  revokeUserToken: schemas.revokeRefreshToken,
  webhooks: strict({
    /** Whether this service sends webhooks. */
    enabled: z.boolean(),
    ...webhookSchemas.list.response.shape,
  }),
  publishing: strict({
    days: z.array(strict({ day: timestamp, users: amount, cost: wei, unpriced: amount })),
    pending: strict({ waiting: amount, undecided: amount, ready: amount }),
  }),
  listBatches: strict({ limit, after: z.string().regex(BATCH_CURSOR).optional() }),
  batches: strict({
    batches: z.array(
      strict({
        root: z.string(),
        region,
        users: amount,
        created: timestamp,
        confirmed: timestamp.nullable(),
        state: z.enum(["submitted", "published"]),
        transaction: z.string().nullable(),
        block: amount.nullable(),
        gas: amount.nullable(),
        cost: wei.nullable(),
      }),
    ),
    next: z.string().nullable(),
  }),
  listPending: schemas.listUsers.body,
  pendingKeys: strict({
    keys: z.array(
      strict({
        ...{ user_id, region, keyID },
        registered: timestamp,
        publishable_at: timestamp.nullable(),
        submitted: z.boolean(),
      }),
    ),
    next: schemas.listUsers.response.shape.next,
  }),
  publishRun,
  operatorStatus: strict({
    databases: z.array(strict({ name: z.string(), error: code })),
    /** Null if the service does not publish. */
    publishing: strict({
      chain: strict({
        chain_id: amount,
        contract: z.string(),
        error: code,
        /** Null if the endpoint does not answer. */
        state: strict({ block: amount, owner: z.string(), balance: wei, fee: wei }).nullable(),
      }),
      stores: z.array(strict({ region, location: z.string(), error: code })),
      publishable: amount,
      running: z.boolean(),
      /** The last one that a person started in this replica; null if there is none. */
      last_run: publishRun.nullable(),
    }).nullable(),
  }),
  invitePartnerStaff: strict({ biz_id, ...schemas.inviteStaff.body.pick({ name: true, role: true }).shape }),
  personID,
  setRole: strict({ ...personID.shape, role }),
  person,
} as const;
