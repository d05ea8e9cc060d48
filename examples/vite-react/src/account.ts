import { UserClient } from "@keyroot/client/user";
import { ANY_KEY, createVerifier } from "keyroot";
import { type Account, accounts, keyStatementText, makeAccount, makeKeyStatement, parseAccount } from "keyroot/account";
import { generateKeyPair } from "keyroot/records";
import { config, sessionUrl } from "./config";

/** What the user prints: the account text, and the recovery key, which only signs changes of the key. */
export interface RecoverySheet {
  account: Account;
  recoveryKey: CryptoKey;
  text: string;
}

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256" };
const verifier = createVerifier({ ...config, accounts: accounts() });

/** Makes an account with one recovery key. This device does not keep the recovery key. */
export async function makeRecoverySheet(): Promise<RecoverySheet> {
  const { publicKey, privateKey } = await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const point = new Uint8Array(await crypto.subtle.exportKey("raw", publicKey));
  // The compressed form: 2 for an even y, 3 for an odd one, and x.
  const compressed = Uint8Array.of(2 + (point[64]! & 1), ...point.slice(1, 33));
  const { chainId, contract } = config;
  const keys = [{ type: "p256" as const, publicKey: compressed }];
  const account = makeAccount({ chainId, contract, keys, threshold: 1 });
  const secret = new Uint8Array(await crypto.subtle.exportKey("pkcs8", privateKey));
  return { account, recoveryKey: privateKey, text: `${account.text}\n${btoa(String.fromCharCode(...secret))}\n` };
}

/** Reads a sheet that the user typed or scanned. */
export async function readRecoverySheet(text: string): Promise<RecoverySheet> {
  const [account = "", secret = ""] = text.trim().split(/\n\s*\n/);
  const bytes = Uint8Array.from(atob(secret.trim()), (character) => character.charCodeAt(0));
  const recoveryKey = await crypto.subtle.importKey("pkcs8", bytes, ALGORITHM, false, ["sign"]);
  return { account: parseAccount(`${account}\n`), recoveryKey, text };
}

/** Registers the first key of a new account, which this device generates. */
export async function registerFirstKey({ account, recoveryKey }: RecoverySheet): Promise<string> {
  const user = await openSession(account);
  await user.storeAccount(account.text);
  return submit(user, account, recoveryKey, 0);
}

/** Replaces the user's key with one that this device generates. The old device's key no longer counts afterwards. */
export async function replaceKey({ account, recoveryKey }: RecoverySheet): Promise<string> {
  const user = await openSession(account);
  // Sign a number only if the chain has the key before it.
  const verified = await verifier.verify(account.userID, { expectedPublicKey: ANY_KEY });
  return submit(user, account, recoveryKey, verified.account!.number + 1);
}

async function submit(user: UserClient, account: Account, recoveryKey: CryptoKey, number: number): Promise<string> {
  // In your app, first store the key pair on the device.
  const { publicKey, privateKey } = generateKeyPair();
  const text = new TextEncoder().encode(keyStatementText(account, { number, publicKey }));
  const signed = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, recoveryKey, text);
  const signatures = [{ keyNumber: 1, signature: new Uint8Array(signed) }];
  const statement = makeKeyStatement(account, { number, publicKey, signatures });
  const { state } = await user.submitStatement(statement, { publicKey, privateKey });
  return `Key ${number} is ${state}.`;
}

/** Replace this function with the login of your app, which returns the user's refresh token. */
async function openSession({ userID }: Account): Promise<UserClient> {
  const response = await fetch(`${sessionUrl}?user=${userID}`, { method: "POST" });
  if (!response.ok) throw new Error(`The server answered with the status ${response.status}.`);
  const { serviceUrl, bizID, refreshToken } = await response.json();
  return new UserClient({ serviceUrl, bizID, refreshToken, chainId: config.chainId, contract: config.contract });
}
