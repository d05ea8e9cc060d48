import { z } from "zod";
import { schemas } from "../http/schemas.ts";
import { ROLES } from "../store/tables.ts";

const strict = z.strictObject;
const timestamp = z.int().nonnegative();
const { name } = schemas.createPartner.body.shape;
const { limit } = schemas.listServerTokens.body.shape;
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
/** What the library or the browser defines, not this service. */
const options = z.looseObject({ challenge: z.string() });

/** The bodies of the dashboard's calls and their responses. */
export const calls = {
  empty: strict({}),
  options,
  accept: strict({ token: z.string().min(1).max(64) }),
  me: strict({
    person,
    partner: strict({ biz_id: z.string(), name }),
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
  personID,
  setRole: strict({ ...personID.shape, role }),
  person,
} as const;
