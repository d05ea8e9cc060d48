import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { sha256 } from "../samples.ts";

/** Account texts and key statements, written with Node's signatures by the rules of docs/formats.md, without the library. */

/** A recovery key with its private key. */
export interface PlainKey {
  type: "ed25519" | "p256";
  publicKey: Uint8Array;
  privateKey: KeyObject;
}

export interface PlainAccount {
  text: string;
  /** 40 hex digits. */
  hex: string;
  userID: string;
  keys: readonly PlainKey[];
  threshold: number;
}

/** The signature of a recovery key. The first key has the number 1. */
export interface PlainSignature {
  keyNumber: number;
  signature: Uint8Array;
}

const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
/** The first bytes of a private key in PKCS #8: RFC 8410 for Ed25519, and RFC 5915 for P-256. */
const PKCS8 = {
  ed25519: ["302e020100300506032b657004220420", ""],
  p256: ["304102010030 1306072a8648ce3d020106082a8648ce3d030107 0427 3025020101 0420", ""],
} as const;

/** A recovery key, always the same for a seed. */
export function plainKey(type: PlainKey["type"], seed: string): PlainKey {
  const [head] = PKCS8[type];
  const der = Buffer.from(head.replaceAll(" ", "") + sha256(seed), "hex");
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const { x = "", y = "" } = createPublicKey(privateKey).export({ format: "jwk" });
  const [bytesX, bytesY] = [Buffer.from(x, "base64url"), Buffer.from(y, "base64url")];
  const publicKey = type === "ed25519" ? bytesX : Buffer.concat([Buffer.of(2 + ((bytesY.at(-1) ?? 0) & 1)), bytesX]);
  return { type, publicKey: new Uint8Array(publicKey), privateKey };
}

export function plainAccount(
  keys: readonly PlainKey[],
  threshold: number,
  { chainId = 31337, contract = `0x${"12".repeat(20)}`, salt = "00".repeat(16) } = {},
): PlainAccount {
  const lines = keys.map(({ type, publicKey }) => `key ${type} ${Buffer.from(publicKey).toString("base64")}\n`);
  const place = `chain ${chainId}\ncontract ${contract}\n`;
  const text = `keyroot/account-v1\n${place}${lines.join("")}threshold ${threshold}\nsalt ${salt}\n`;
  const hex = sha256(text).slice(0, 40);
  return { text, hex, userID: zBase32(hex), keys, threshold };
}

/** The user id of a slot: 32 zBase32 characters. */
export function plainSlot({ text, userID }: PlainAccount, number: number): string {
  if (number === 0) return userID;
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(number);
  const hash = createHash("sha256").update("keyroot/slot-v1\n").update(text).update(bytes);
  return zBase32(hash.digest("hex").slice(0, 40));
}

/** The text of a statement that recovery keys sign. @param publicKey base64, or undefined for `void` */
export function plainStatementText(userID: string, number: number, publicKey: string | undefined): string {
  const last = publicKey === undefined ? "void" : `key ${publicKey}`;
  return `keyroot/key-v1\naccount ${userID}\nnumber ${number}\n${last}\n`;
}

/** Signs with the low one of the two possible S, as statements require. */
export function plainSignature({ type, privateKey }: PlainKey, text: string): Uint8Array {
  if (type === "ed25519") return sign(null, Buffer.from(text), privateKey);
  const signature = sign("sha256", Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" });
  const s = BigInt(`0x${signature.subarray(32).toString("hex")}`);
  return s > P256_ORDER / 2n ? withOtherS(signature) : signature;
}

/** The other valid ECDSA signature of the same text: r and n − s. */
export function withOtherS(signature: Uint8Array): Uint8Array {
  const s = BigInt(`0x${Buffer.from(signature.subarray(32)).toString("hex")}`);
  const other = (P256_ORDER - s).toString(16).padStart(64, "0");
  return Buffer.concat([signature.subarray(0, 32), Buffer.from(other, "hex")]);
}

/** Writes a signed statement with any signatures. */
export function plainSigned(text: string, signatures: readonly PlainSignature[]): string {
  const lines = signatures.map(
    ({ keyNumber, signature }) => `— ${keyNumber} ${Buffer.from(signature).toString("base64")}\n`,
  );
  return `${text}\n${lines.join("")}`;
}

/** A statement that the keys with these numbers signed. */
export function plainStatement(
  account: PlainAccount,
  number: number,
  publicKey: string | undefined,
  signers = account.keys.map((_, i) => i + 1).slice(0, account.threshold),
): string {
  const text = plainStatementText(account.userID, number, publicKey);
  return plainSigned(
    text,
    signers.flatMap((keyNumber) => {
      const key = account.keys[keyNumber - 1];
      return key ? [{ keyNumber, signature: plainSignature(key, text) }] : [];
    }),
  );
}

/** The file of an account: its text and the statements, with an empty line between them. */
export function plainAccountFile({ text }: Pick<PlainAccount, "text">, statements: readonly string[]): string {
  return [text, ...statements].join("\n");
}

/** zBase32 of 40 hex digits. */
export function zBase32(hex: string): string {
  const bits = BigInt(`0x1${hex}`).toString(2).slice(1);
  return bits.replace(/.{5}/g, (five) => "ybndrfg8ejkmcpqxot1uwisza345h769".charAt(parseInt(five, 2)));
}
