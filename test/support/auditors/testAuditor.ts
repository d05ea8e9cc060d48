import { createPrivateKey, createPublicKey, hash, type KeyObject, sign } from "node:crypto";

const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");

/** An auditor with keys and signatures from Node's crypto instead of the library. */
export class TestAuditor {
  readonly name: string;
  /** The public key as text. */
  readonly key: string;
  readonly publicKey: Buffer;
  readonly #id: Buffer;
  readonly #privateKey: KeyObject;

  /** @param name also the seed of the key */
  constructor(name: string) {
    this.name = name;
    const seed = hash("sha256", name, "buffer");
    this.#privateKey = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: "der", type: "pkcs8" });
    const { x = "" } = createPublicKey(this.#privateKey).export({ format: "jwk" });
    this.publicKey = Buffer.from(x, "base64url");
    this.key = keyText(name, this.publicKey);
    this.#id = Buffer.from(this.key.split("+")[1] ?? "", "hex");
  }

  /** Returns a signature line. */
  line(text: string): string {
    const signature = sign(null, Buffer.from(text), this.#privateKey);
    return `— ${this.name} ${Buffer.concat([this.#id, signature]).toString("base64")}\n`;
  }
}

/** Creates auditors with the names `<name>.example`. */
export function testAuditors<const Names extends readonly string[]>(
  ...names: Names
): { [I in keyof Names]: TestAuditor } {
  return names.map((name) => new TestAuditor(`${name}.example`)) as { [I in keyof Names]: TestAuditor };
}

/** Returns a statement's file with the signatures of these auditors. */
export function signedBy(auditors: readonly TestAuditor[], text: string): string {
  return `${text}\n${auditors.map((auditor) => auditor.line(text)).join("")}`;
}

/** Returns a public key as text (C2SP signed-note, "vkey"). */
export function keyText(name: string, publicKey: Uint8Array): string {
  const encoded = Buffer.concat([Uint8Array.of(1), publicKey]);
  const id = hash("sha256", Buffer.concat([Buffer.from(`${name}\n`), encoded])).slice(0, 8);
  return `${name}+${id}+${encoded.toString("base64")}`;
}
