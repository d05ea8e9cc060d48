import type { StackService } from "@keyroot/service/stack";
import { base64ToBytes } from "keyroot/internal/bytes";
import { ServiceError } from "@keyroot/client/internal";
import { provePossession, proveWithWebCrypto, randomUserID } from "keyroot/internal/identity";
import { PartnerClient } from "@keyroot/client/partner";
import { UserClient } from "@keyroot/client/user";
import { type DemoRegistry, newKeyOf, type Provisioned } from "../samplePartner.ts";
import { DemoError } from "../demoError.ts";

/** An attack on the registration of keys, and its outcome. */
export interface RegistrationAttack {
  attack: string;
  /** A one-line description of the attack. */
  description: string;
  /** The error code from the service, or the reaction of the user's app. */
  outcome: string;
}

/**
 * Runs two attacks with a new user's stolen token, and then adds the user to `provisioned`:
 *
 * 1. The attacker tries to register another user's public key, which the service rejects.
 * 2. The attacker registers a key of their own before the user's app does. The app finds this key, withdraws it, and
 *    registers the user's own key.
 * @throws DemoError DEMO_FAILED if an attack has an unexpected outcome
 */
export async function attackRegistrations(
  { serviceUrl }: StackService,
  { chainId, contract, keyType }: DemoRegistry,
  provisioned: Provisioned,
  signal: AbortSignal,
): Promise<RegistrationAttack[]> {
  const { bizID, serverToken, users } = provisioned;
  const partner = new PartnerClient({ serviceUrl, bizID, serverToken, keyType });
  const region = "eu-west-1";
  const userID = randomUserID();
  await partner.createUser(userID, region, { signal });
  const refreshToken = await partner.createUserRefreshToken(userID, "phone", { signal });
  // The attacker calls the service with the stolen token, as the app does.
  const openApp = () => new UserClient({ serviceUrl, bizID, refreshToken, chainId, contract, keyType, userID });
  const attacker = openApp();

  const [victim] = users;
  if (victim === undefined) throw new DemoError("There is no user to attack.");
  const publicKey = base64ToBytes((await attacker.unverifiedPublicKeyOf(victim.userID, { signal })).public_key);
  const { publicKey: ownPublicKey, privateKey } = await newKeyOf(keyType);
  const prove = (statement: Parameters<typeof provePossession>[0]) =>
    typeof privateKey === "bigint"
      ? provePossession(statement, privateKey)
      : proveWithWebCrypto({ ...statement, publicKey: ownPublicKey }, privateKey);
  const foreign = await refusalOf(attacker.register({ publicKey, prove }, { signal }), "POSSESSION_REFUSED");

  await attacker.register(await newKeyOf(keyType), { signal });
  const [app, own] = [openApp(), await newKeyOf(keyType)];
  await refusalOf(app.register(own, { signal }), "PUBLIC_KEY_REGISTERED");
  const { state, key_id: keyID = "" } = await app.record({ signal });
  if (state !== "pending") throw new DemoError(`The hijacked key has the state ${state} instead of pending.`);
  await app.withdraw(keyID, { signal });
  await app.register(own, { signal });
  const { events } = await partner.publicKeyOf(userID, { signal });
  const types = events.map(({ type }) => type).join();
  if (types !== "registered,withdrawn,conflict,registered")
    throw new DemoError(`The partner received the wrong events ${types}.`);
  users.push({ userID, region, app });

  return [
    {
      attack: "foreign-key",
      description: "registers another user's public key, with a stolen token",
      outcome: foreign,
    },
    {
      attack: "hijacked-key",
      description: "registers its own key, before the user's app does",
      outcome: "withdrawn in time",
    },
  ];
}

/** Returns the error code with which the service rejects an operation. */
async function refusalOf(operation: Promise<unknown>, expected: string): Promise<string> {
  try {
    await operation;
  } catch (error) {
    if (error instanceof ServiceError && error.code === expected) return expected;
    throw error;
  }
  throw new DemoError(`The service did not reject the request with ${expected}.`);
}
