import { expect } from "chai";
import { createECDH, createHash, createPrivateKey, sign } from "node:crypto";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type * as fileModule from "../../packages/keyroot/src/merkle/file.ts";
import type * as parseModule from "../../packages/keyroot/src/merkle/parseMerkleFile.ts";
import type * as recordModule from "../../packages/keyroot/src/identity/keyRecord.ts";
import type * as keyTypes from "../../packages/keyroot/src/identity/keyTypes/loadKeyType.ts";
import type * as possessionModule from "../../packages/keyroot/src/identity/possession/loadPossession.ts";
import type * as statementModule from "../../packages/keyroot/src/identity/possession/statement.ts";
import { ROOT } from "../../scripts/test/root.ts";
import { run } from "../support/packages/installPackages.ts";
import { sampleUserID } from "../support/samples.ts";

/** What an engineer adds, by the file. An existing file gets the text before the given words. */
type Addition = Readonly<Record<string, { text: string; before?: string }>>;

/** The files that the type checker does not ask for. */
const NEW: Addition = {
  "identity/keyTypes/secp256k1.ts": {
    text: `import { secp256k1 as curve } from "@noble/curves/secp256k1.js";
import { checkLength, invalidKey, type KeyType } from "./keyType.ts";
import { ROWS } from "./rows.ts";

/** secp256k1 keys: the compressed point (SEC 1, section 2.3.3). The group has prime order. */
export const secp256k1: KeyType = {
  ...ROWS.secp256k1,
  check(bytes) {
    checkLength(bytes, secp256k1);
    try {
      curve.Point.fromBytes(bytes).assertValidity();
    } catch {
      throw invalidKey("PUBLIC_KEY_NOT_ON_CURVE", "is not a point of secp256k1", bytes);
    }
  },
};

/** Generates a key pair for samples and tests. */
export function generate() {
  const { publicKey, secretKey } = curve.keygen();
  return { publicKey, privateKey: secretKey };
}
`,
  },
  "identity/possession/secp256k1.ts": {
    text: `import { secp256k1 as curve } from "@noble/curves/secp256k1.js";
import { secp256k1 } from "../keyTypes/secp256k1.ts";
import { signing } from "./signing.ts";

/**
 * The proof of possession of secp256k1 keys: an ECDSA signature of the transcript's SHA-256, with r and s in 64 bytes.
 */
export const possession = signing(secp256k1, (signature, message, publicKey) =>
  curve.verify(signature, message, publicKey, { lowS: false }),
);
`,
  },
  "identity/keyTypes/rows.ts": {
    text: `  secp256k1: { name: "secp256k1", title: "secp256k1", length: 33, possession: "signature", signatureBytes: 64 },\n`,
    before: "} as const satisfies",
  },
};
/** The rows that the type checker asks for. */
const ROWS: Addition = {
  "identity/keyTypes/loadKeyType.ts": {
    text: `  secp256k1: {
    load: async () => (await loadModule(() => import("./secp256k1.ts"))).secp256k1,
    generate: async () => (await loadModule(() => import("./secp256k1.ts"))).generate(),
  },
`,
    before: "};\n\n/** Loads",
  },
  "identity/possession/webCrypto.ts": { text: "  secp256k1: undefined,\n", before: "  document: undefined," },
  "identity/possession/loadPossession.ts": {
    text: `  secp256k1: async () => (await loadModule(() => import("./secp256k1.ts"))).possession,\n`,
    before: "};\n\n/** Loads",
  },
};

describe("CONTRIBUTING.md", () => {
  let folder: string;
  let source: string;

  before("copies the library", async () => {
    await mkdir(join(ROOT, "build"), { recursive: true });
    folder = await mkdtemp(join(ROOT, "build", "copy-"));
    source = join(folder, "src");
    await cp(join(ROOT, "packages/keyroot/src"), source, { recursive: true });
    await writeFile(join(folder, "package.json"), '{ "type": "module" }');
    const config = { extends: "../../tsconfig.json", include: ["src"] };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
  });

  after(() => rm(folder, { recursive: true }));

  async function add(addition: Addition): Promise<void> {
    for (const [name, { text, before }] of Object.entries(addition)) {
      const path = join(source, name);
      if (before === undefined) {
        await writeFile(path, text);
        continue;
      }
      const old = await readFile(path, "utf8");
      expect(old.split(before), name).to.have.length(2);
      await writeFile(path, old.replace(before, text + before));
    }
  }

  /** Returns the files in which the type checker finds an error. */
  async function filesWithErrors(): Promise<string[]> {
    const checker = join(ROOT, "node_modules/typescript-7/bin/tsc");
    const checking = run(process.execPath, [checker, "--singleThreaded", "--pretty", "false"], { cwd: folder });
    const { stdout } = await checking.catch((error: unknown) => error as { stdout: string });
    return [...new Set(Array.from(stdout.matchAll(/^src\/([^(]+)\(/gm), ([, name = ""]) => name))].toSorted();
  }

  it("says which files a new key type needs, and the type checker asks for the rows", async () => {
    await add(NEW);
    expect(await filesWithErrors()).to.deep.equal(Object.keys(ROWS).toSorted());
    await add(ROWS);
    expect(await filesWithErrors()).to.deep.equal([]);

    const section = /## Add a key type\n([^]*?)\n## /.exec(await readFile(join(ROOT, "CONTRIBUTING.md"), "utf8"))?.[1];
    for (const name of ["identity/keyTypes", "rows.ts", "loadKeyType.ts", "possession/loadPossession.ts"])
      expect(section).to.include(name);

    const load = async (name: string): Promise<unknown> => import(join(source, name));
    const { loadKeyType, generateKeyOf } = (await load("identity/keyTypes/loadKeyType.ts")) as typeof keyTypes;
    const { makeKeyRecord } = (await load("identity/keyRecord.ts")) as typeof recordModule;
    const { makeMerkleFile, serializeMerkleFile } = (await load("merkle/file.ts")) as typeof fileModule;
    const { parseMerkleFile } = (await load("merkle/parseMerkleFile.ts")) as typeof parseModule;
    const { loadPossession } = (await load("identity/possession/loadPossession.ts")) as typeof possessionModule;
    const { possessionTranscript } = (await load("identity/possession/statement.ts")) as typeof statementModule;
    const name = "secp256k1" as "p256";
    const keyType = await loadKeyType(name);

    // Keys of node:crypto, in a file that is read again.
    const pairs = [createECDH("secp256k1"), createECDH("secp256k1")];
    const keys = pairs.map((pair) => {
      pair.generateKeys();
      return new Uint8Array(pair.getPublicKey(null, "compressed"));
    });
    const records = keys.map((key, i) => makeKeyRecord(sampleUserID(i), key, keyType));
    const made = makeMerkleFile(records, keyType);
    const bytes = Buffer.from([...serializeMerkleFile(made)].join(""));
    expect(parseMerkleFile(bytes, made.tree.root, keyType).records).to.have.deep.members(records);
    expect(() => parseMerkleFile(bytes, made.tree.root))
      .to.throw()
      .with.property("code", "KEY_TYPE_MISMATCH");
    const generated = await generateKeyOf(name);
    keyType.check(generated.publicKey);
    const offCurve = () => {
      keyType.check(new Uint8Array(33).fill(2, 0, 1));
    };
    expect(offCurve).to.throw().with.property("code", "PUBLIC_KEY_NOT_ON_CURVE");

    // A proof of possession by node:crypto.
    const [publicKey = new Uint8Array(), other = publicKey] = keys;
    const nonce = createHash("sha256").update("nonce").digest();
    const statement = {
      ...{ keyType: name, service: "https://keys.example.com", registry: undefined, userID: sampleUserID(0) },
      ...{ publicKey, nonce, ephemeralKey: new Uint8Array(), expires: 1_800_000_000_000 },
    };
    const point = pairs[0]?.getPublicKey() ?? Buffer.of();
    const jwk = {
      ...{ kty: "EC", crv: "secp256k1", d: pairs[0]?.getPrivateKey().toString("base64url") ?? "" },
      ...{ x: point.subarray(1, 33).toString("base64url"), y: point.subarray(33).toString("base64url") },
    };
    const key = createPrivateKey({ key: jwk, format: "jwk" });
    const signature = sign("sha256", possessionTranscript(statement), { key, dsaEncoding: "ieee-p1363" });
    const possession = await loadPossession(name);
    expect(possession?.isSignature?.(statement, signature)).to.equal(true);
    expect(possession?.isSignature?.({ ...statement, publicKey: other }, signature)).to.equal(false);
  });
});
