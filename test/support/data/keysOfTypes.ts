/**
 * Public keys of each key type from `node:crypto`, and keys that each type must reject. Nothing here is from the library.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";

/** The types whose keys `node:crypto` makes. */
export const TYPES = ["x25519", "ed25519", "p256", "document"] as const;
export type TypeName = (typeof TYPES)[number];

/** The beginning of a private key in PKCS #8 (RFC 8410, section 7; RFC 5915, section 3), before its 32 secret bytes. */
const PKCS8 = {
  x25519: "302e020100300506032b656e04220420",
  ed25519: "302e020100300506032b657004220420",
  p256: "304102010030130607 2a8648ce3d0201 06082a8648ce3d030107 0427 3025020101 0420",
};

const seed = (text: string) => createHash("sha256").update(text).digest();

/** The private key with a number: always the same for a type and number. */
export function privateKeyOf(type: Exclude<TypeName, "document">, number: number): KeyObject {
  const key = Buffer.concat([Buffer.from(PKCS8[type].replace(/ /g, ""), "hex"), seed(`keyroot ${type} ${number}`)]);
  return createPrivateKey({ key, format: "der", type: "pkcs8" });
}

/** The public key with a number, as records contain it. A document's key is the hash of its text. */
export function publicKeyOf(type: TypeName, number: number): Buffer {
  if (type === "document") return seed(`document ${number}`);
  const { x = "", y } = createPublicKey(privateKeyOf(type, number)).export({ format: "jwk" });
  const [X, Y] = [x, y ?? ""].map((part) => Buffer.from(part, "base64url"));
  return type === "p256" ? Buffer.concat([Buffer.of(4), X as Buffer, Y as Buffer]) : (X as Buffer);
}

/** The record of a user as text, by the rules of docs/formats.md. */
export function recordText(userID: string, publicKey: Uint8Array): string {
  const keyID = createHash("sha256").update(publicKey).digest().subarray(0, 16).toString("base64");
  return JSON.stringify({ userID, pubKey: Buffer.from(publicKey).toString("base64"), keyID });
}

const P25519 = 2n ** 255n - 19n;
const P256 = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
/** The positive root of the curve's b, so (0, ROOT_OF_B) is a point of P-256. */
const ROOT_OF_B = 0x66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4n;

const little = (value: bigint) => Buffer.from(value.toString(16).padStart(64, "0"), "hex").reverse();
const hex = (text: string) => Buffer.from(text, "hex");
const uncompressed = (x: bigint, y: bigint, prefix = "04") =>
  hex(prefix + [x, y].map((value) => value.toString(16).padStart(64, "0")).join(""));
const TOP_BIT = 2n ** 255n;

/** The coordinates of the two points of order 8 on Curve25519 (cr.yp.to/ecdh.html#validate). */
const ORDER_8 = [
  325606250916557431795983626356110631294008115727848805560023387167927233504n,
  39382357235489614581723060781553021112529911719440698176882885853963445705823n,
] as const;
/** The y coordinates of the four points of order 8 on edwards25519, each of which belongs to two points. */
const ED_ORDER_8 = [
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
].map((text) => Buffer.from(text, "hex").reverse().toString("hex"));
/** The base point plus the point of order 2, which is (-x, -y). Its order is 2·L. */
const MIXED = P25519 - BigInt(`0x${"66".repeat(31)}58`) + TOP_BIT;

/**
 * Keys that a type rejects, with the reason and the error code. They are the public keys with the flags LowOrderPublic,
 * NonCanonicalPublic, ZeroSharedSecret, InvalidCurveAttack and PointNotOnCurve in Project Wycheproof (x25519,
 * ecdh_secp256r1, ed25519). The rules are in RFC 7748, section 6.1, RFC 8032, section 5.1.3, SEC 1, section 2.3.4, and
 * cr.yp.to/ecdh.html.
 */
export const INVALID: Readonly<Record<Exclude<TypeName, "document">, readonly (readonly [string, Buffer, string])[]>> =
  {
    x25519: [
      ...[0n, 1n, ...ORDER_8, P25519 - 1n].map(
        (u) => [`the point of low order ${u}`, little(u), "PUBLIC_KEY_SMALL_ORDER"] as const,
      ),
      ...[0n, 1n, 2n, 18n].map((u) => [`p + ${u}`, little(P25519 + u), "PUBLIC_KEY_FORMAT"] as const),
      ...[0n, 1n, 9n, ...ORDER_8, P25519 - 1n, P25519, P25519 + 1n].map(
        (u) => [`the coordinate ${u} with the highest bit`, little(u + TOP_BIT), "PUBLIC_KEY_FORMAT"] as const,
      ),
    ],
    ed25519: [
      ["the identity", little(1n), "PUBLIC_KEY_SMALL_ORDER"],
      ["the point of order 2", little(P25519 - 1n), "PUBLIC_KEY_SMALL_ORDER"],
      ["a point of order 4", little(0n), "PUBLIC_KEY_SMALL_ORDER"],
      ["the other point of order 4", little(TOP_BIT), "PUBLIC_KEY_SMALL_ORDER"],
      ...ED_ORDER_8.flatMap((y) =>
        [0n, TOP_BIT].map(
          (sign) =>
            [
              `a point of order 8, sign ${sign >> 255n}`,
              little(BigInt(`0x${y}`) + sign),
              "PUBLIC_KEY_SMALL_ORDER",
            ] as const,
        ),
      ),
      ["a point of mixed order", little(MIXED), "PUBLIC_KEY_NOT_PRIME_ORDER"],
      ["the identity with a sign", little(1n + TOP_BIT), "PUBLIC_KEY_NOT_ON_CURVE"],
      ["the point of order 2 with a sign", little(P25519 - 1n + TOP_BIT), "PUBLIC_KEY_NOT_ON_CURVE"],
      ...[0n, 1n, 18n].flatMap((y) =>
        [0n, TOP_BIT].map(
          (sign) => [`p + ${y}, sign ${sign >> 255n}`, little(P25519 + y + sign), "PUBLIC_KEY_NOT_ON_CURVE"] as const,
        ),
      ),
      ["a y without an x", little(2n), "PUBLIC_KEY_NOT_ON_CURVE"],
    ],
    p256: [
      ["the point (0, 0)", uncompressed(0n, 0n), "PUBLIC_KEY_NOT_ON_CURVE"],
      ["the point (0, 1)", uncompressed(0n, 1n), "PUBLIC_KEY_NOT_ON_CURVE"],
      ["a coordinate of p", uncompressed(P256, ROOT_OF_B), "PUBLIC_KEY_NOT_ON_CURVE"],
      ["the largest coordinates", uncompressed(2n ** 256n - 1n, 2n ** 256n - 1n), "PUBLIC_KEY_NOT_ON_CURVE"],
      ...["00", "02", "03", "05", "06", "07"].map(
        (prefix) =>
          [`a key that begins with ${prefix}`, uncompressed(0n, ROOT_OF_B, prefix), "PUBLIC_KEY_FORMAT"] as const,
      ),
    ],
  };

/** Unusual keys that are valid. */
export const VALID: readonly (readonly [TypeName, string, Buffer])[] = [
  ["x25519", "the base point", little(9n)],
  ["x25519", "a coordinate on the twist", little(2n)],
  ["x25519", "the largest canonical coordinate but one", little(P25519 - 2n)],
  ["ed25519", "the base point", hex(`58${"66".repeat(31)}`)],
  ["p256", "a point with the coordinate 0", uncompressed(0n, ROOT_OF_B)],
  ["p256", "its negative", uncompressed(0n, P256 - ROOT_OF_B)],
  ["document", "32 zero bytes", Buffer.alloc(32)],
];
