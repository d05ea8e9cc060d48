import { isDeepStrictEqual } from "node:util";
import { makeAccount, parseAccount } from "../../packages/keyroot/src/account/account.ts";
import { parseAccountFile } from "../../packages/keyroot/src/account/accountFile.ts";
import { verifyObjection } from "../../packages/keyroot/src/account/objection.ts";
import { serializeKeyStatement } from "../../packages/keyroot/src/account/keyStatement.ts";
import { serializeSignedNote } from "../../packages/keyroot/src/trust/auditors/signedNote.ts";
import { parseSignedStatement } from "../../packages/keyroot/src/trust/auditors/statement.ts";
import { decodeSsz } from "../../packages/keyroot/src/trust/lightClient/beaconEndpoint.ts";
import { forkAt } from "../../packages/keyroot/src/trust/lightClient/rules.ts";
import { toNumber } from "../../packages/keyroot/src/trust/lightClient/forks.ts";
import { ArgumentError, KeyrootError } from "../../packages/keyroot/src/errors.ts";
import { hashHeader } from "../../packages/keyroot/src/ethereum/header.ts";
import { keccak256 } from "../../packages/keyroot/src/ethereum/keccak.ts";
import { decodeRlp, encodeRlp } from "../../packages/keyroot/src/ethereum/rlp.ts";
import { readTrie } from "../../packages/keyroot/src/ethereum/trie.ts";
import { parseJson } from "../../packages/keyroot/src/input/parseJson.ts";
import { parseMerkleFile } from "../../packages/keyroot/src/merkle/parseMerkleFile.ts";
import { parseMerkleProof, verifyMerkleProof } from "../../packages/keyroot/src/merkle/proof.ts";
import { parseBundle } from "../../packages/keyroot/src/verifier/bundle.ts";
import { ANY_KEY } from "../../packages/keyroot/src/identity/compareKey.ts";
import { mainnet, MAINNET_SAMPLES } from "../../test/support/beacon/mainnet.ts";
import { type Case, readVectors, toBytes } from "../../test/support/data/vectors.ts";

export interface Target {
  /** The valid documents from which mutants are made. */
  seeds: readonly Uint8Array[];
  /**
   * Parses a document, and checks the result.
   * @throws KeyrootError for a rejected document. Any other error is a defect
   */
  parse: (bytes: Uint8Array) => void;
}

/** The maximum size of a seed in bytes. Larger seeds would take most of the time, but have the same structure. */
const MAX_SEED_BYTES = 20_000;

/** The maximum size of a trie node in bytes. `storageProof.ts` rejects larger nodes. */
const MAX_NODE_BYTES = 1024;

export const TARGETS: Readonly<Record<string, () => Target>> = {
  file: () => {
    // Skip files without a root, and files that spell the root with escapes.
    const good = goodVectors("merkle-file-good.json").filter(({ question, bytes }) => rootIn(bytes) === question.root);
    const roots = new Map(good.map(({ question, bytes }) => [question.root ?? "", bytes]));
    const [first = ""] = roots.keys();
    return {
      seeds: good.map(({ bytes }) => bytes),
      parse: (bytes) => {
        // Compare the mutant with its own root if this root is known. With a fixed root, most mutants would already
        // fail there.
        const named = rootIn(bytes) ?? first;
        const root = roots.has(named) ? named : first;
        const { values } = parseMerkleFile(bytes, root);
        const { values: expected } = parseMerkleFile(roots.get(root) ?? bytes, root);
        requireEqual("the values under a root", values, expected);
      },
    };
  },
  proof: () => {
    const good = goodVectors("proof-good.json");
    return {
      seeds: good.map(({ bytes }) => bytes),
      parse: (bytes) => {
        const { proof, record } = parseMerkleProof(bytes);
        const known = good.find(({ question }) => question.root === proof.root && question.userID === record.userID);
        const { userID, root = "" } = known?.question ?? good[0]?.question ?? { userID: "" };
        const proven = verifyMerkleProof(bytes, { userID, root, expectedPublicKey: ANY_KEY });
        const expected = verifyMerkleProof(known?.bytes, { userID, root, expectedPublicKey: ANY_KEY });
        requireEqual("the proven record", proven.record, expected.record);
      },
    };
  },
  bundle: () => ({
    seeds: ["bundle-good.json", "bundle-accounts.json"].flatMap(goodVectors).map(({ bytes }) => bytes),
    parse: (bytes) => {
      const { bundle, record } = parseBundle(bytes);
      requireEqual("a bundle, written and parsed", parseBundle(Buffer.from(JSON.stringify(bundle))), {
        bundle,
        record,
      });
    },
  }),
  rlp: () => {
    const nodes = goodVectors("bundle-good.json").flatMap(({ bytes }) => {
      const { bundle } = parseBundle(bytes);
      return [...bundle.accountProof, ...bundle.storageProof].map((node) => Buffer.from(node.slice(2), "hex"));
    });
    return {
      seeds: nodes,
      parse: (bytes) => {
        // Storage proofs reject nodes of these sizes before decoding. The decoder would accept zero bytes.
        if (bytes.length === 0 || bytes.length > MAX_NODE_BYTES)
          throw new ArgumentError("RECORD_INVALID", "A node has 1 to 1024 bytes.");
        const decoded = refusing(() => decodeRlp(new Uint8Array(bytes)));
        requireEqual("RLP, decoded and encoded", encodeRlp(decoded), new Uint8Array(bytes));
        for (const key of ["", "0".repeat(64), pathIn(decoded)])
          try {
            refusing(() => readTrie(keccak256(bytes), key, [bytes]));
          } catch (error) {
            // A single node rarely proves anything about a key. Only a programming error is a defect.
            if (!(error instanceof KeyrootError)) throw error;
          }
      },
    };
  },
  header: () => {
    const headers = goodVectors("bundle-good.json").map(({ bytes }) => parseBundle(bytes).bundle.header);
    const byHash = new Map(headers.map((header) => [hashHeader(header).hash, header]));
    return {
      seeds: headers.map((header) => Buffer.from(JSON.stringify(header))),
      parse: (bytes) => {
        const header = parseJson(Buffer.from(bytes).toString(), 2);
        const known = byHash.get(hashHeader(header).hash);
        if (known === undefined) return;
        const lower = (fields: unknown) =>
          Object.entries(fields as object).map(([name, text]) => [name, String(text).toLowerCase()]);
        requireEqual("the header with a hash", lower(header).sort(), lower(known).sort());
      },
    };
  },
  statement: () => ({
    seeds: goodVectors("statements/statements.json").map(({ bytes }) => bytes),
    parse: (bytes) => {
      const signed = parseSignedStatement(bytes);
      const again = parseSignedStatement(Buffer.from(serializeSignedNote(signed)));
      requireEqual("a statement, written and parsed", again, signed);
    },
  }),
  account: () => ({
    seeds: goodVectors("accounts/accounts.json").map(({ bytes }) => Buffer.from(parseAccountFile(bytes).account.text)),
    parse: (bytes) => {
      const text = Buffer.from(bytes).toString();
      const { userID, chainId, contract, keys, threshold, salt } = parseAccount(text);
      const again = makeAccount({ chainId, contract, keys, threshold, salt: Buffer.from(salt, "hex") });
      requireEqual("an account, parsed and written", [again.text, again.userID], [text, userID]);
    },
  }),
  "account-file": () => ({
    seeds: goodVectors("accounts/accounts.json").map(({ bytes }) => bytes),
    parse: (bytes) => {
      const { account, statements } = parseAccountFile(bytes);
      const again = [account.text, ...statements.map(serializeKeyStatement)].join("\n");
      requireEqual("an account file, parsed and written", again, Buffer.from(bytes).toString());
    },
  }),
  objection: () => {
    const good = goodVectors("accounts/objections.json").map(({ question, bytes }) => ({
      text: Buffer.from(bytes).toString(),
      account: { text: (question as unknown as { account: string }).account },
    }));
    return {
      seeds: good.map(({ text }) => Buffer.from(text)),
      parse: (bytes) => {
        const text = Buffer.from(bytes).toString();
        verifyObjection(good[0]?.account ?? { text: "" }, text);
        // Nobody can change a signed text or its signature, so only the seeds are valid.
        const isSeed = good.some((seed) => seed.text === text);
        requireEqual("whether an accepted objection is one of the seeds", isSeed, true);
      },
    };
  },
  "light-client": () => ({
    seeds: MAINNET_SAMPLES.flatMap(({ fork, updates }) =>
      updates.slice(0, 2).map((update) => forkOf(fork).layouts.finality_update.encode(update as never)),
    ),
    parse: (bytes) => {
      const update = decodeSsz(mainnet, "finality_update", bytes);
      const { layouts } = forkAt(mainnet, toNumber(update.attested_header.beacon.slot));
      requireEqual("SSZ, decoded and encoded", layouts.finality_update.encode(update), new Uint8Array(bytes));
    },
  }),
};

function forkOf(fork: "deneb" | "electra") {
  const sample = MAINNET_SAMPLES.find((one) => one.fork === fork);
  const slot = sample?.updates[0]?.attested_header.beacon.slot;
  return forkAt(mainnet, slot === undefined ? NaN : toNumber(slot));
}

/** Returns the valid inputs in a file of test vectors, up to `MAX_SEED_BYTES` each. */
function goodVectors(name: string): { question: Case["question"]; bytes: Uint8Array }[] {
  const vectors = readVectors(name).vectors.filter(({ verdict }) => "verified" in verdict);
  const all = vectors.map(({ question, input }) => ({ question, bytes: toBytes(input) }));
  return all.filter(({ bytes }) => bytes.length <= MAX_SEED_BYTES);
}

/** Returns the path of a leaf or extension without its flag. The path is the end of each key that ends in this node. */
function pathIn(node: unknown): string {
  const [path] = Array.isArray(node) ? (node as unknown[]) : [];
  return path instanceof Uint8Array
    ? Buffer.from(path)
        .toString("hex")
        .replace(/^[13]|^[02]0/, "")
    : "";
}

/** Returns the first `root` field in a file's text. */
function rootIn(bytes: Uint8Array): string | undefined {
  return /"root"\s*:\s*"([0-9a-f]{64})"/.exec(Buffer.from(bytes).toString("latin1"))?.[1];
}

/**
 * Runs a function that rejects input with a plain error, and turns this error into a KeyrootError. Programming errors
 * remain as they are.
 */
function refusing<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError) throw error;
    throw new ArgumentError("RECORD_INVALID", (error as Error).message);
  }
}

function requireEqual(what: string, actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) throw new Error(`${what} differs from what it should be.`);
}
