import { type SigningKey, Wallet } from "ethers";
import { open } from "node:fs/promises";
import { ArgumentError } from "keyroot/errors";
import { type SignedTransaction, type Signer, toTransaction, type TransactionRequest } from "./signer.ts";

/** A passphrase, or the path of a file with it. Never pass a passphrase as a command-line argument: others can read it. */
export type PassphraseSource = { file: string } | { passphrase: string };

/** The most bytes of a key file or passphrase file. A key file has about 500. */
const MAX_BYTES = 2 ** 16;

/**
 * Opens an encrypted key file (Web3 secret storage, version 3), as Geth, Clef, ethers and many wallets write it. Decryption
 * takes up to some seconds, depending on the parameters in the file.
 * @throws ArgumentError FILE_UNREADABLE, PASSPHRASE_MISSING, KEY_FILE_INVALID. No error contains a key or passphrase
 * @example
 * ```ts
 * const signer = await openKeyFile("owner.json", { file: "/run/secrets/passphrase" });
 * ```
 */
export async function openKeyFile(path: string, source: PassphraseSource): Promise<Signer> {
  const json = await readSmall(path);
  const passphrase = await readPassphrase(path, source);
  try {
    const { address, signingKey } = await Wallet.fromEncryptedJson(json, passphrase);
    return new KeySigner(address, signingKey);
  } catch {
    // Without its cause, which may contain parts of the key.
    const message = `${path} is not an encrypted key file (Web3 secret storage), or the passphrase is wrong.`;
    throw new ArgumentError("KEY_FILE_INVALID", message);
  }
}

/** Holds the key in a private field, so that printing the signer does not show it. */
class KeySigner implements Signer {
  readonly address: string;
  readonly #key: SigningKey;

  constructor(address: string, key: SigningKey) {
    this.address = address;
    this.#key = key;
  }

  sign(request: TransactionRequest, chainId: number): Promise<SignedTransaction> {
    const transaction = toTransaction(request, chainId);
    // Deterministic (RFC 6979): the same transaction always has the same signature.
    transaction.signature = this.#key.sign(transaction.unsignedHash);
    const { serialized: raw, hash } = transaction;
    return Promise.resolve({ raw, hash: hash ?? "" });
  }
}

/** Reads a passphrase, without the line end that editors append. */
async function readPassphrase(keyFile: string, source: PassphraseSource): Promise<string> {
  if ("passphrase" in source) {
    if (source.passphrase !== "") return source.passphrase;
    const message =
      `The passphrase of the key file ${keyFile} is empty or not set. Set KEYROOT_PASSPHRASE_FILE to the path of a file with ` +
      "it, or set KEYROOT_PASSPHRASE.";
    throw new ArgumentError("PASSPHRASE_MISSING", message);
  }
  const passphrase = (await readSmall(source.file)).replace(/\r?\n$/, "");
  if (passphrase !== "") return passphrase;
  const message = `The passphrase file ${source.file} is empty: write the passphrase of the key file ${keyFile} into it.`;
  throw new ArgumentError("PASSPHRASE_MISSING", message);
}

async function readSmall(path: string): Promise<string> {
  try {
    await using file = await open(path);
    const { bytesRead, buffer } = await file.read(Buffer.alloc(MAX_BYTES + 1));
    if (bytesRead <= MAX_BYTES) return buffer.subarray(0, bytesRead).toString();
  } catch (cause) {
    throw new ArgumentError("FILE_UNREADABLE", `${path} cannot be read: ${(cause as Error).message}.`, { cause });
  }
  throw new ArgumentError("FILE_UNREADABLE", `${path} has more than ${MAX_BYTES} bytes.`);
}
