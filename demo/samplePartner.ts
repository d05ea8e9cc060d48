import type { Stack, StackService } from "@keyroot/service/stack";
import { AdminClient } from "@keyroot/client/operator";
import { deriveUserID, type KeyRecord, type KeyType, type OwnKey, type Region } from "keyroot/internal/identity";
import { generateKeyOf } from "keyroot/internal/keyTypes";
import { PartnerClient, type ProvisionOutcome } from "@keyroot/client/partner";
import { UserClient } from "@keyroot/client/user";
import { DemoError } from "./demoError.ts";

/**
 * The number of users that the sample partner has in each region. An attack adds a user in eu-west-1. The regions then
 * have 12 and 13 users, and trees of different shapes.
 */
const USERS: Record<Region, number> = { "us-west-2": 12, "eu-west-1": 12 };

/** The registry of the demo, with the type of its keys. */
export interface DemoRegistry extends Pick<Stack, "chainId" | "contract"> {
  keyType: KeyType;
}

/** A partner and its users, whose apps have registered a key each. */
export interface Provisioned {
  bizID: string;
  serverToken: string;
  users: { userID: string; region: Region; app: UserClient }[];
}

/**
 * Creates a partner as the operator does. Then the partner's server creates a shadow user and a refresh token for each
 * user. Each user's app creates a key pair and registers the public key.
 */
export async function provisionUsers(
  service: StackService,
  { chainId, contract, keyType }: DemoRegistry,
  signal: AbortSignal,
): Promise<Provisioned> {
  const { serviceUrl } = service;
  const admin = new AdminClient(service);
  const { biz_id: bizID } = await admin.createPartner("Sample partner");
  const { token: serverToken } = await admin.createServerToken(bizID);
  const partner = new PartnerClient({ serviceUrl, bizID, serverToken });
  // The user ids depend on a secret, so readers of the chain cannot guess the partner's own identifiers.
  const secret = crypto.getRandomValues(new Uint8Array(32));
  const wanted = Object.entries(USERS).flatMap(([region, count]) =>
    Array.from({ length: count }, (_, i) => ({
      userID: deriveUserID(secret, `${region} customer ${i}`),
      region: region as Region,
    })),
  );
  const runId = crypto.randomUUID();
  const outcomes: ProvisionOutcome<(typeof wanted)[number]>[] = [];
  for await (const outcome of partner.provision(wanted, { runId, context: "phone", signal })) outcomes.push(outcome);
  const users = await Promise.all(
    outcomes.map(async (outcome) => {
      if ("error" in outcome) throw outcome.error;
      const { user, token: refreshToken } = outcome;
      const app = new UserClient({ serviceUrl, bizID, refreshToken, chainId, contract, keyType });
      const { state } = await app.register(await newKeyOf(keyType), { signal });
      if (state !== "pending") throw new DemoError(`A new key has the state ${state} instead of pending.`);
      return { ...user, app };
    }),
  );
  return { bizID, serverToken, users };
}

/** Makes a key pair, as an app does. */
export async function newKeyOf({ name }: KeyType): Promise<OwnKey> {
  return (await generateKeyOf(name)) as OwnKey;
}

/** Fetches the keys of all users from the service, as the first user's app. */
export async function fetchKeys({ users }: Provisioned, signal: AbortSignal): Promise<KeyRecord[]> {
  const [first] = users;
  if (first === undefined) return [];
  return Promise.all(
    users.map(async ({ userID }) => {
      const { public_key: pubKey, key_id: keyID } = await first.app.unverifiedPublicKeyOf(userID, { signal });
      return { userID, pubKey, keyID };
    }),
  );
}
