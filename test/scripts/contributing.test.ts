import { expect } from "chai";
import { createECDH, createHash, createPrivateKey, sign } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type * as library from "keyroot";
import type * as fileModule from "../../packages/keyroot/src/merkle/file.ts";
import type * as parseModule from "../../packages/keyroot/src/merkle/parseMerkleFile.ts";
import type * as recordModule from "../../packages/keyroot/src/identity/keyRecord.ts";
import type * as keyTypes from "../../packages/keyroot/src/identity/keyTypes/loadKeyType.ts";
import type * as possessionModule from "../../packages/keyroot/src/identity/possession/loadPossession.ts";
import type * as statementModule from "../../packages/keyroot/src/identity/possession/statement.ts";
import { ROOT } from "../../scripts/test/root.ts";
import { type Addition, ProjectCopy } from "../support/copy/projectCopy.ts";
import { sampleUserID } from "../support/samples.ts";
import { failure } from "../support/support.ts";

const TRUST = "packages/keyroot/src/trust";
const COMMANDS = "packages/operator/src/commands";
const OPERATIONS = "packages/service/src/partners/operations.ts";
const STORE = "packages/service/src/partners/partners.ts";
const IDENTITY = "packages/keyroot/src/identity";
const CLI = "packages/operator/src/cli.ts";
const CONTRACT = "0x5fbdb2315678afecb367f032d93f642f64180aa3";
const HASH = `0x${"1".repeat(64)}`;
const USER = "4443nzngyi7hsyn9e55rgxxskar74qu4";

/** A block source: the file, its name, its export, and the rows that the type checker asks for. */
const SOURCE: { added: Addition; asked: Addition } = {
  added: {
    [`${TRUST}/printedBlock.ts`]: {
      text: `import { checkText } from "../input/options.ts";
import { LOWERCASE_HASH } from "../ethereum/rpcValues.ts";
import { makeTrust, type Trust } from "./trust.ts";

/** Trusts the hash of a block that a newspaper printed. */
export function printedBlock(hash: string): Trust {
  checkText("The hash of printedBlock", hash, "a hash, 0x and 64 lowercase hex digits", LOWERCASE_HASH);
  const block = { hash, endpoints: [] };
  return makeTrust("printed-block", () => ({
    storageProof: true,
    tag: "latest",
    findBlock: () => Promise.resolve(block),
    accepts: ({ block }) => block?.hash === hash,
  }));
}
`,
    },
    "packages/keyroot/src/evidence.ts": { text: `"printed-block" | `, before: '"one-endpoint" |' },
    "packages/keyroot/src/index.ts": {
      text: `export { printedBlock } from "./trust/printedBlock.ts";\n`,
      before: "export { pinnedBlock }",
    },
  },
  asked: {
    [`${COMMANDS}/describeSource.ts`]: {
      text: `    "printed-block": "the block hash that a newspaper printed",\n`,
      before: '    "own-node"',
    },
    [`${COMMANDS}/trust.ts`]: {
      text: `  "printed-block": { value: "HASH", make: (_, value) => printedBlock(hashOf(value)) },\n`,
      before: '  "own-node": {',
    },
  },
};

const PRINTED: Addition = {
  [`${COMMANDS}/trust.ts`]: { text: "printedBlock, ", before: "type Trust } from" },
};

/** A key type: its files, and the rows that the type checker asks for. */
const KEY_TYPE: { added: Addition; asked: Addition } = {
  added: {
    [`${IDENTITY}/keyTypes/secp256k1.ts`]: {
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

/** Checks an ECDSA signature of the message's SHA-256, with r and s in 64 bytes. */
export function isSecp256k1Signature(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  return curve.verify(signature, message, publicKey, { lowS: false });
}

/** Generates a key pair for samples and tests. */
export function generate() {
  const { publicKey, secretKey } = curve.keygen();
  return { publicKey, privateKey: secretKey };
}
`,
    },
    [`${IDENTITY}/possession/signing.ts`]: {
      text: `import { isSecp256k1Signature, secp256k1 } from "../keyTypes/secp256k1.ts";

/** The proof of possession of secp256k1 keys: a signature of the transcript. */
export const secp256k1Possession = signing(secp256k1, isSecp256k1Signature);

`,
      before: "/** The proof of possession of Ed25519 keys",
    },
    [`${IDENTITY}/keyTypes/rows.ts`]: {
      text: `  secp256k1: { name: "secp256k1", title: "secp256k1", length: 33, possession: "signature", signatureBytes: 64 },\n`,
      before: "} as const satisfies",
    },
  },
  asked: {
    [`${IDENTITY}/keyTypes/loadKeyType.ts`]: {
      text: `  secp256k1: () => loadModule(() => import("./secp256k1.ts")),\n`,
      before: "};\n\n/** Loads",
    },
    [`${IDENTITY}/possession/webCrypto.ts`]: { text: "  secp256k1: undefined,\n", before: "  document: undefined," },
    [`${IDENTITY}/possession/loadPossession.ts`]: {
      text: `  secp256k1: async () => (await loadModule(() => import("./signing.ts"))).secp256k1Possession,\n`,
      before: "};\n\n/** Loads",
    },
  },
};

/** A command: its file and its row. */
const COMMAND: Addition = {
  [`${COMMANDS}/countRecords.ts`]: {
    text: `import { command, json } from "./defineCommand.ts";

/** \`keyroot count-records\`: counts the records of a file. */
export const countRecords = command(
  { summary: "Count the records of a file", argument: { kind: "required", name: "file", description: "JSON Lines" }, options: { json } },
  async ({ file }) => {
    const { readLines } = await import("./inputFiles.ts");
    const count = (await readLines(file)).length;
    return { json: { count }, text: String(count) };
  },
);
`,
  },
  [`${COMMANDS}/commandTable.ts`]: { text: `  "count-records": countRecords,\n`, before: `  "check-file": checkFile,` },
};
const IMPORTED: Addition = {
  [`${COMMANDS}/commandTable.ts`]: {
    text: `import { countRecords } from "./countRecords.ts";\n`,
    before: "import type { Command }",
  },
};

/** An API field: its line in the schema, and its value in the store, which the type checker asks for. */
const FIELD: { added: Addition; asked: Addition[] } = {
  added: {
    [OPERATIONS]: { text: `  free_users: count("users that the partner may create"),\n`, before: "  pending_keys:" },
  },
  asked: [
    {
      [STORE]: { text: "  freeUsers: number;\n", before: "  /** Number of registered public keys that are not" },
    },
    {
      [STORE]: {
        text: "      freeUsers: (partner.userLimit ?? 2 ** 31 - 1) - partner.users,\n",
        before: "      ...(keys.get(partner.bizID) ??",
      },
    },
  ],
};

describe("CONTRIBUTING.md, on a copy of the project", () => {
  let copy: ProjectCopy;

  before("makes the copy", async () => {
    copy = await ProjectCopy.make();
  });

  after(() => copy.remove());

  it("needs three rows for a key type, four for a block source, one for a command, and two files for an API field", async () => {
    for (const addition of [KEY_TYPE.added, SOURCE.added, COMMAND, IMPORTED, FIELD.added]) await copy.add(addition);
    expect(await copy.filesWithErrors()).to.deep.equal(
      [...Object.keys({ ...KEY_TYPE.asked, ...SOURCE.asked }), OPERATIONS].toSorted(),
    );
    for (const addition of [KEY_TYPE.asked, SOURCE.asked, PRINTED, ...FIELD.asked]) await copy.add(addition);
    expect(await copy.filesWithErrors()).to.deep.equal([]);
  });

  it("names these files", async () => {
    const text = await readFile(join(ROOT, "CONTRIBUTING.md"), "utf8");
    for (const path of Object.keys({ ...SOURCE.added, ...SOURCE.asked, ...COMMAND, ...FIELD.added }))
      if (!path.includes("printedBlock") && !path.includes("countRecords")) expect(text).to.include(basename(path));
  });

  it("makes a key type for files and proofs of possession", async () => {
    const section = /## Add a key type\n([^]*?)\n## /.exec(await readFile(join(ROOT, "CONTRIBUTING.md"), "utf8"))?.[1];
    for (const name of ["identity/keyTypes", "rows.ts", "loadKeyType.ts", "possession/loadPossession.ts"])
      expect(section).to.include(name);

    const load = async (name: string): Promise<unknown> => copy.load(join("packages/keyroot/src", name));
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

  it("makes a block source that a verifier and --trust accept", async () => {
    const { createVerifier, printedBlock } = (await copy.load("packages/keyroot/src/index.ts")) as typeof library & {
      printedBlock: typeof library.pinnedBlock;
    };
    const place = { rpc: "http://127.0.0.1:1", merkleUrl: "http://127.0.0.1:1", chainId: 1, contract: CONTRACT };
    expect(createVerifier({ ...place, trust: printedBlock(HASH) })).to.have.property("verify");
    const help = await copy.run(CLI, "verify", "--help");
    expect(help.stdout.replaceAll(/\s+/g, " ")).to.include("pinned-block:HASH");
    const args = ["--rpc", place.rpc, "--contract", CONTRACT, "--chain-id", "1", "--merkle-url", place.merkleUrl];
    const refused = await failure(copy.run(CLI, "verify", "--trust", "printed-block:0x12", ...args, USER));
    expect((refused as { stderr: string }).stderr).to.include("needs 0x and 64 lowercase hex digits");
  });

  it("makes a command that runs", async () => {
    const { stdout } = await copy.run(CLI, "count-records", "package.json", "--json");
    expect(JSON.parse(stdout)).to.have.property("count").that.is.above(10);
    expect((await copy.run(CLI, "--help")).stdout).to.include("count-records");
  });

  it("makes an API field that the OpenAPI document, the client's types and its checks have", async () => {
    await copy.run("scripts/generate/openApi.ts");
    await copy.run("scripts/generate/clientTypes.ts");
    const clientFolder = join(copy.folder, "packages/client/src/shared");
    for (const name of ["operations.ts", "answerChecks.ts"])
      expect(await readFile(join(clientFolder, name), "utf8")).to.include("free_users");
  });
});
