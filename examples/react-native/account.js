import { UserClient } from "@keyroot/client/user";
import { ed25519 } from "@noble/curves/ed25519.js";
import { asciiToBytes, bytesToHex, hexToBytes } from "@noble/curves/utils.js";
import { ANY_KEY, createVerifier } from "keyroot";
import { accounts, keyStatementText, makeAccount, makeKeyStatement, parseAccount } from "keyroot/account";
import { generateKeyPair } from "keyroot/records";
import { serverUrl, verifierOptions } from "./config";

const { chainId, contract } = verifierOptions;
const verifier = createVerifier({ ...verifierOptions, accounts: accounts() });

/**
 * Makes an account with one recovery key, which only signs changes of the key and does not stay on the phone.
 * @returns the account, the recovery key, and the `text` that the user writes down: the account id of 32 characters and
 *   the recovery key in hex, in groups of four
 */
export function makeRecoverySheet() {
  const { secretKey, publicKey } = ed25519.keygen();
  const account = makeAccount({ chainId, contract, keys: [{ type: "ed25519", publicKey }], threshold: 1 });
  const groups = `${account.userID}${bytesToHex(secretKey)}`.match(/.{4}/g);
  return { account, secretKey, text: groups.join(" ") };
}

/** Reads a sheet that the user typed. Spaces, lines and capitals do not matter. */
export function readRecoverySheet(text) {
  const [, userID, secret] = /^(.{32})([0-9a-f]{64})$/.exec(text.replace(/\s/g, "").toLowerCase()) ?? [];
  if (secret === undefined) throw new Error("This is no recovery sheet. Type all 24 groups of four characters.");
  return { userID, secretKey: hexToBytes(secret) };
}

/** Registers the first key of a new account, which this phone generates. */
export async function registerFirstKey({ account, secretKey }) {
  const user = await openSession(account.userID);
  await user.storeAccount(account.text);
  return submit(user, account, secretKey, 0);
}

/** Replaces the user's key with one that this phone generates. The old phone's key no longer counts afterwards. */
export async function replaceKey({ userID, secretKey }) {
  const user = await openSession(userID);
  const account = parseAccount((await user.account()).account);
  // The id is the hash of the account, so the service cannot return another one.
  if (account.userID !== userID) throw new Error("The service returned another account than the one of the sheet.");
  // Sign a number only if the chain has the key before it.
  const verified = await verifier.verify(userID, { expectedPublicKey: ANY_KEY });
  return submit(user, account, secretKey, verified.account.number + 1);
}

/** Makes the statement of a key, which the recovery key signs. */
export function signKey(account, secretKey, number, publicKey) {
  const text = keyStatementText(account, { number, publicKey });
  const signature = ed25519.sign(asciiToBytes(text), secretKey);
  return makeKeyStatement(account, { number, publicKey, signatures: [{ keyNumber: 1, signature }] });
}

async function submit(user, account, secretKey, number) {
  // In your app, first store the key pair on the phone.
  const { publicKey, privateKey } = generateKeyPair();
  const statement = signKey(account, secretKey, number, publicKey);
  const { state, hold_ends_at } = await user.submitStatement(statement, { publicKey, privateKey });
  return `Key ${number} is ${state}. Your contacts will see it after ${new Date(hold_ends_at).toLocaleString()}.`;
}

/** Replace this function with the login of your app, which returns the user's refresh token. */
async function openSession(userID) {
  const response = await fetch(`${serverUrl}/session?user=${userID}`, { method: "POST" });
  if (!response.ok) throw new Error(`The server answered with the status ${response.status}.`);
  const { serviceUrl, bizID, refreshToken } = await response.json();
  return new UserClient({ serviceUrl, bizID, refreshToken, chainId, contract });
}
