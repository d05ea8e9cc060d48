import { type SigningKey, Wallet } from "ethers";
import { open } from "node:fs/promises";
import { ArgumentError } from "keyroot/errors";
import { type SignedTransaction, type Signer, toTransaction, type TransactionRequest } from "./signer.ts";

/** A passphrase, or a file that holds it and that only its user may read; never an argument of a command. */
export type PassphraseSource = { file: string } | { passphrase: string };

/** The most bytes of a key file, or of a passphrase's: such files have some 500. */
const MAX_BYTES = 2 ** 16;

/**
 * Opens an encrypted key file (Web3 secret storage, version 3) as Geth, Clef, ethers and many wallets write it. By its
 * writer's will that takes up to some seconds.
 * @throws ArgumentError FILE_UNREADABLE, PASSPHRASE_MISSING, KEY_FILE_INVALID; none shows what the files hold
 */
export async function openKeyFile(path: string, source: PassphraseSource): Promise<Signer> {
  const json = await readSmall(path);
  const passphrase = await readPassphrase(source);
  try {
    const { address, signingKey } = await Wallet.fromEncryptedJson(json, passphrase);
    return new KeySigner(address, signingKey);
  } catch {
    // Without its cause, which was close to the key.
    const message = `${path} is no encrypted key file (Web3 secret storage), or the passphrase is another.`;
    throw new ArgumentError("KEY_FILE_INVALID", message);
  }
}

/** Keeps the key in memory, where nothing prints it. */
class KeySigner implements Signer {
  readonly address: string;
  readonly #key: SigningKey;

  constructor(address: string, key: SigningKey) {
    this.address = address;
    this.#key = key;
  }

  sign(request: TransactionRequest, chainId: number): Promise<SignedTransaction> {
    const transaction = toTransaction(request, chainId);
    // The same transaction has the same signature each time (RFC 6979).
    transaction.signature = this.#key.sign(transaction.unsignedHash);
    const { serialized: raw, hash } = transaction;
    return Promise.resolve({ raw, hash: hash ?? "" });
  }
}

/** A passphrase without the line's end that editors put after it. */
async function readPassphrase(source: PassphraseSource): Promise<string> {
  const passphrase = "file" in source ? (await readSmall(source.file)).replace(/\r?\n$/, "") : source.passphrase;
  if (passphrase !== "") return passphrase;
  throw new ArgumentError("PASSPHRASE_MISSING", "The key file's passphrase is empty, or was not set.");
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
