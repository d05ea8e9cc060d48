import { keccak256, type SigningKey } from "ethers/crypto";
import { isObject } from "keyroot/internal/input";
import { ArgumentError } from "../../errors.ts";
import { readSecretFile } from "../../disk/permissions.ts";
import { serializeSigned, serializeUnsigned } from "../chain/serializeTransaction.ts";
import { type SignedTransaction, type Signer, toTransaction, type TransactionRequest } from "./signer.ts";

/**
 * A passphrase, or the path of a file that contains the passphrase. Never pass a passphrase as a command-line argument,
 * because other accounts on the machine can read the arguments of a process.
 */
export type PassphraseSource = { file: string } | { passphrase: string };

/** The maximum size of a key file or passphrase file in bytes. A key file has about 500 bytes. */
const MAX_BYTES = 2 ** 16;

/**
 * Opens an encrypted key file (Web3 Secret Storage, version 3). Geth, Clef, ethers and many wallets write this format.
 * Decryption can take a few seconds, depending on the parameters in the file.
 * @param variables the environment variables that contain the paths, for error messages
 * @throws ArgumentError FILE_UNREADABLE, FILE_PERMISSIONS, PASSPHRASE_MISSING, KEY_FILE_INVALID. Errors contain no key
 *   and no passphrase
 * @example
 * ```ts
 * const signer = await openKeyFile("owner.json", { file: "/run/secrets/passphrase" });
 * ```
 */
export async function openKeyFile(
  path: string,
  source: PassphraseSource,
  variables?: { keyFile: string; passphraseFile: string },
): Promise<Signer> {
  const json = await readSecretFile(path, MAX_BYTES, variables?.keyFile);
  checkKeyDerivation(path, json);
  const passphrase = await readPassphrase(path, source, variables?.passphraseFile);
  // Load this module on demand, so that commands without a key file start sooner.
  const { Wallet } = await import("ethers/wallet");
  try {
    const { address, signingKey } = await Wallet.fromEncryptedJson(json, passphrase);
    return new KeySigner(address, signingKey);
  } catch {
    // Omit the error's cause, because the cause may contain parts of the key.
    throw notAKeyFile(path);
  }
}

/**
 * Creates a key, and the text of its encrypted key file. The format is Web3 Secret Storage, version 3, with scrypt (N =
 * 131072, r = 8, p = 1).
 * @returns `key`: the account of the key, 0x and 40 hex digits with checksum (EIP-55)
 */
export async function makeKeyFile(passphrase: string): Promise<{ key: string; text: string }> {
  const { encryptKeystoreJson, Wallet } = await import("ethers/wallet");
  const { address, privateKey } = Wallet.createRandom();
  const text = await encryptKeystoreJson({ address, privateKey }, passphrase, { scrypt: { N: 2 ** 17, r: 8, p: 1 } });
  return { key: address, text: `${text}\n` };
}

/** A signer that keeps the key in a private field, so that it does not appear when the signer is printed. */
class KeySigner implements Signer {
  readonly address: string;
  readonly #key: SigningKey;

  constructor(address: string, key: SigningKey) {
    this.address = address;
    this.#key = key;
  }

  sign(request: TransactionRequest, chainId: number): Promise<SignedTransaction> {
    const transaction = toTransaction(request, chainId);
    // The same transaction always has the same signature (RFC 6979).
    transaction.signature = this.#key.sign(keccak256(serializeUnsigned(transaction)));
    const raw = serializeSigned(transaction);
    return Promise.resolve({ raw, hash: keccak256(raw) });
  }
}

/** Returns the source that environment variables name: the file KEYROOT_PASSPHRASE_FILE, or else KEYROOT_PASSPHRASE. */
export function passphraseSourceOf(environment: NodeJS.ProcessEnv): PassphraseSource {
  const { KEYROOT_PASSPHRASE_FILE: file = "", KEYROOT_PASSPHRASE: passphrase = "" } = environment;
  return file === "" ? { passphrase } : { file };
}

/** Reads a passphrase, and removes the line end that editors append. */
export async function readPassphrase(keyFile: string, source: PassphraseSource, variable?: string): Promise<string> {
  if ("passphrase" in source) {
    if (source.passphrase !== "") return source.passphrase;
    const message =
      `The passphrase of the key file ${keyFile} is empty or not set. Set KEYROOT_PASSPHRASE_FILE to the path of a file with ` +
      "it, or set KEYROOT_PASSPHRASE.";
    throw new ArgumentError("PASSPHRASE_MISSING", message);
  }
  const passphrase = (await readSecretFile(source.file, MAX_BYTES, variable)).replace(/\r?\n$/, "");
  if (passphrase !== "") return passphrase;
  const message = `The passphrase file ${source.file} is empty. Write the passphrase of the key file ${keyFile} into it.`;
  throw new ArgumentError("PASSPHRASE_MISSING", message);
}

/**
 * The minimum memory of scrypt, as N * r. It is the memory of the weakest parameters in the OWASP Password Storage
 * Cheat Sheet (section "scrypt", N = 2^13, r = 8, p = 10, 8 MiB). Geth's light parameters (N = 2^12, r = 8, p = 6) are
 * weaker.
 */
const MIN_SCRYPT_MEMORY = 2 ** 13 * 8;
const MIN_SCRYPT_WORK = 2 ** 13 * 8 * 10;
/**
 * The minimum number of PBKDF2-HMAC-SHA-256 rounds. The sample in the Web3 Secret Storage Definition, version 3, has
 * this number, and wallets still use it. For stored passwords, the OWASP Password Storage Cheat Sheet (section
 * "PBKDF2") recommends 600,000 rounds. With fewer rounds, choose a longer passphrase, or encrypt the key again with
 * scrypt.
 */
const MIN_PBKDF2_ROUNDS = 262_144;

/**
 * Rejects key files with a weak key derivation, because ethers would decrypt them. For example, wallets of Ethereum's
 * presale have only 2,000 rounds.
 * @throws ArgumentError KEY_FILE_INVALID if guessing the passphrase is too cheap, or the derivation is neither scrypt
 *   nor PBKDF2
 */
function checkKeyDerivation(path: string, json: string): void {
  const { kdf, n, r, p, c } = keyDerivationOf(json);
  let weakness: string;
  if (kdf === "scrypt") {
    if (n * r >= MIN_SCRYPT_MEMORY && n * r * p >= MIN_SCRYPT_WORK) return;
    const least = `N * r must be at least ${MIN_SCRYPT_MEMORY}, and N * r * p at least ${MIN_SCRYPT_WORK}`;
    weakness = `scrypt parameters (N = ${n}, r = ${r}, p = ${p}): ${least}`;
  } else if (kdf === "pbkdf2") {
    if (c >= MIN_PBKDF2_ROUNDS) return;
    weakness = `PBKDF2 parameters (c = ${c}): c must be at least ${MIN_PBKDF2_ROUNDS}`;
  } else throw notAKeyFile(path);
  const message = `${path} is encrypted with weak ${weakness}. Encrypt the key again, with scrypt, N = 131072, r = 8, p = 1.`;
  throw new ArgumentError("KEY_FILE_INVALID", message);
}

/**
 * Returns the name of a key file's key derivation in lower case, and its parameters. In the file, field names may be in
 * upper or lower case. If the text is not a key file, `kdf` is "undefined".
 */
function keyDerivationOf(json: string) {
  let file: unknown;
  try {
    file = JSON.parse(json);
  } catch {
    // The text is not a key file, so the key derivation is unknown.
  }
  const crypto = lowercaseKeys(lowercaseKeys(file)["crypto"]);
  const { n, r, p, c } = lowercaseKeys(crypto["kdfparams"]);
  return { kdf: String(crypto["kdf"]).toLowerCase(), n: Number(n), r: Number(r), p: Number(p), c: Number(c) };
}

function notAKeyFile(path: string): ArgumentError {
  const message = `${path} is not an encrypted key file (Web3 secret storage), or the passphrase is wrong. Check the file and the passphrase.`;
  return new ArgumentError("KEY_FILE_INVALID", message);
}

function lowercaseKeys(value: unknown): Record<string, unknown> {
  if (!isObject(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name.toLowerCase(), field]));
}
