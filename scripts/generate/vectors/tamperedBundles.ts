import { concat, encodeRlp, id, keccak256 } from "ethers";
import { CODE_HASH, CONTRACT, hashOf, type PlainBundle } from "../../../test/support/data/plainBundle.ts";
import { sha256 } from "../../../test/support/samples.ts";
import { type Forged, rejected } from "./rejected.ts";
import { sampleBundle, type SampleChain } from "./sampleBundle.ts";
import { recordOf, SampleFile, sampleRecord, textOf } from "./sampleFile.ts";
import { plainProof, proofIn, proofWithValue } from "./sampleProof.ts";
import type { BundleQuery, Vector } from "./vector.ts";

type Trie = "accountProof" | "storageProof";

const OTHER = `0x${"34".repeat(20)}`;
const TRIES = [
  ["account", "accountProof"],
  ["storage", "storageProof"],
] as const;

const file = new SampleFile(5);
const proof = proofIn(file, 1);
const record = file.record(1);

/** The bundle of a chain, and functions that change it. */
function toolsFor(chain: SampleChain) {
  const { bundle, question } = sampleBundle(proof, chain);
  const text = JSON.stringify(bundle);
  const withFields = (change: object) => JSON.stringify({ ...bundle, ...change });
  const edited = (from: string, to: string) => {
    if (!text.includes(from)) throw new Error(`The bundle has no ${from}.`);
    return text.replace(from, () => to);
  };
  const withQuery = (change: Partial<BundleQuery>, content = text): Forged<BundleQuery> => {
    return { content, question: { ...question, ...change } };
  };
  return { bundle, question, text, withFields, edited, withQuery };
}

/** A small bundle: its tries consist of a leaf each. */
const SMALL: SampleChain = { accountPath: [], storagePath: [] };

/** A slot with a value of one byte. It is so deep in the trie that its leaf is shorter than a hash. */
const EMBEDDED: SampleChain = { root: `${"0".repeat(62)}07`, storagePath: [13, "branch"] };

/** The bundle of a chain, with a query about this chain. */
const on = (chain: SampleChain, change: Partial<BundleQuery> = {}, ofProof = proof): Forged<BundleQuery> => {
  const made = sampleBundle(ofProof, chain);
  return { content: JSON.stringify(made.bundle), question: { ...made.question, ...change } };
};

/** Bundles that are not JSON, or have another form. */
export function malformedBundles(): Vector<BundleQuery>[] {
  const { bundle, question, text, withFields, edited } = toolsFor(SMALL);
  const shape = (key: keyof PlainBundle, cases: Record<string, unknown>) =>
    Object.entries(cases).map(
      ([what, value]) =>
        [`bundle-${key.toLowerCase()}-${what}`, `${key}: ${what}`, withFields({ [key]: value })] as const,
    );
  const header = (value: unknown) => ({ ...bundle.header, number: value });
  const nodes = (key: Trie) => {
    const [first = ""] = bundle[key];
    return shape(key, {
      text: first,
      object: { 0: first },
      "item-number": [0],
      "item-array": [[first]],
      "upper-case": [`0x${first.slice(2).toUpperCase()}`],
      "without-0x": [first.slice(2)],
      "half-a-byte": [`${first}0`],
      "no-byte": ["0x"],
      "1025-bytes": [`0x${"00".repeat(1025)}`],
      "66-nodes": Array.from({ length: 66 }, () => "0x80"),
    });
  };
  const hash = { "upper-case": `0x${CODE_HASH.slice(2).toUpperCase()}`, "without-0x": CODE_HASH.slice(2), number: 0 };
  const inProof = (change: object) => withFields({ proof: { ...proof, ...change } });

  return [
    ...rejected("file: FILE_TOO_LARGE", question, [
      ["bundle-too-large", "a byte more than 65,536, for spaces behind the end", text.padEnd(2 ** 16 + 1)],
    ]),
    ...rejected("file: FILE_NOT_UTF8", question, [
      ["bundle-not-utf8", "the byte 0xff behind the end", Buffer.concat([Buffer.from(text), Uint8Array.of(0xff)])],
    ]),
    ...rejected("file: JSON_INVALID", question, [
      ["bundle-empty", "no bytes", ""],
      ["bundle-truncated", "the last brace is missing", text.slice(0, -1)],
      ["bundle-trailing-brace", "a brace too many", `${text}}`],
      ["bundle-leading-zero", "01 for a chain", edited('"chainId":1', '"chainId":01')],
    ]),
    ...rejected("file: JSON_FORBIDDEN_TOKEN", question, [
      ["bundle-byte-order-mark", "a byte-order mark", `\ufeff${text}`],
      ["bundle-trailing-letter", "a letter behind the end", `${text}x`],
      ["bundle-chainid-exponent", "1e0 for a chain", edited('"chainId":1', '"chainId":1e0')],
      ["bundle-usersslot-negative", "a slot below zero", withFields({ usersSlot: -1 })],
      ["bundle-header-null", "a header that is null", withFields({ header: null })],
    ]),
    ...rejected("file: JSON_TOO_DEEP", question, [["bundle-too-deep", "five arrays", "[[[[[]]]]]"]]),
    ...rejected("file: JSON_DUPLICATE_KEY", question, [
      [
        "bundle-twice-contract",
        "contract twice: the last is good",
        edited('"contract":', `"contract":"${OTHER}","contract":`),
      ],
      [
        "bundle-twice-in-header",
        "stateRoot twice: the last is good",
        edited('"stateRoot":', `"stateRoot":"0x","stateRoot":`),
      ],
      [
        "bundle-twice-in-proof",
        "the proof's root twice, once with an escape",
        edited('"root":', '"r\\u006fot":"","root":'),
      ],
    ]),
    ...rejected("file: BUNDLE_SHAPE", question, [
      ["bundle-array", "an array", "[]"],
      ["bundle-number", "a number", "0"],
      ["bundle-empty-object", "an object without keys", "{}"],
      ["bundle-proof-alone", "a proof for a bundle", JSON.stringify(proof)],
      ...Object.keys(bundle).map(
        (key) => [`bundle-without-${key.toLowerCase()}`, `no ${key}`, withFields({ [key]: undefined })] as const,
      ),
      ["bundle-with-more", "a key that does not belong there", withFields({ lookup: {} })],
      ["bundle-proto", "__proto__ as one key more", edited("{", '{"__proto__":{},')],
      ["bundle-proto-for-header", "the header under __proto__", edited('"header":', '"__proto__":')],
      ...shape("format", {
        2: "keyroot-bundle-v2",
        proof: "keyroot-proof-v1",
        "line-feed": "keyroot-bundle-v1\n",
        number: 1,
      }),
      ...shape("chainId", { hex: "0x1", array: [1], "2-to-53": 2 ** 53 }),
      ["bundle-chainid-huge", "a chain of 400 digits", edited('"chainId":1', `"chainId":${"1".repeat(400)}`)],
      [
        "bundle-usersslot-2-to-64",
        "a slot that is no double",
        edited('"usersSlot":2', `"usersSlot":${2n ** 64n + 2n}`),
      ],
      ...shape("usersSlot", { text: "2", "2-to-53": 2 ** 53 }),
      ...shape("contract", {
        "upper-case": `0x${"AB".repeat(20)}`,
        short: CONTRACT.slice(0, -1),
        long: `${CONTRACT}0`,
        "without-0x": CONTRACT.slice(2),
        number: 0,
      }),
      ...shape("codeHash", hash),
      ...shape("header", {
        array: Object.values(bundle.header),
        text: "0x",
        "field-number": header(7),
        "field-without-0x": header("7"),
        "field-empty": header(""),
        "field-upper-case": header("0xA"),
        "field-object": header({}),
      }),
      ...nodes("accountProof"),
      ...nodes("storageProof"),
    ]),
    ...rejected("file: PROOF_SHAPE", question, [
      ["bundle-proof-text", "a text for a proof", withFields({ proof: "proof" })],
      ["bundle-proof-with-more", "a proof with a key more", inProof({ index: 1 })],
      ["bundle-proof-hash-upper-case", "the proof's root in upper case", inProof({ root: proof.root.toUpperCase() })],
    ]),
    ...rejected("record: VALUE_LOOKS_LIKE_NODE", question, [
      ["bundle-value-node", "128 hex digits for a value", inProof({ value: "0".repeat(128) })],
    ]),
    ...rejected("record: RECORD_INVALID", question, [
      ["bundle-record-empty", "a record without fields", inProof({ value: "{}" })],
    ]),
  ];
}

/** Bundles of another block, contract or user than the query's, and bundles that prove that there is no key. */
export function misplacedBundles(): Vector<BundleQuery>[] {
  const { bundle, question, text, withFields, edited, withQuery } = toolsFor(SMALL);
  const { header } = bundle;
  const withHeader = (change: object) => withFields({ header: { ...header, ...change } });
  /** A malformed header, with the hash that follows from it in the query. */
  const hashed = (change: Record<string, string>) =>
    withQuery({ pinned: hashOf({ ...header, ...change }) }, withHeader(change));
  const emptyCode = keccak256("0x");
  const [mine, theirs] = [record, file.record(2)];
  const alien = plainProof([textOf({ ...sampleRecord(50), userID: mine.userID })], 0);
  const publicKey = Buffer.from(mine.pubKey, "base64");
  const withValue = (value: string) => on({}, {}, proofWithValue(proof, value));
  const unanchored = { ...question };
  delete unanchored.pinned;

  return [
    ...rejected("record: USER_MISMATCH", question, [
      [
        "bundle-of-another",
        "another user's bundle",
        withQuery({}, JSON.stringify(sampleBundle(proofIn(file, 2)).bundle)),
      ],
      ["bundle-proof-of-another", "another user's proof in the user's bundle", withFields({ proof: proofIn(file, 2) })],
      ["bundle-asked-about-another", "a good bundle, asked about another user", withQuery({ userID: theirs.userID })],
    ]),
    ...rejected("anchor: HEADER_INVALID", question, [
      ["bundle-header-unknown-field", "a field that no header has", withHeader({ extra: "0x00" })],
      ["bundle-header-proto", "__proto__ for a field", edited('"header":{', '"header":{"__proto__":"0x",')],
      ["bundle-header-empty", "a header without fields", withFields({ header: {} })],
      [
        "bundle-header-of-14",
        "the first 14 fields",
        withFields({ header: Object.fromEntries(Object.entries(header).slice(0, 14)) }),
      ],
      ...["parentHash", "stateRoot", "number", "nonce", "baseFeePerGas", "blobGasUsed", "parentBeaconBlockRoot"].map(
        (name) =>
          [
            `bundle-header-without-${name.toLowerCase()}`,
            `${name} is missing, and those behind it are there`,
            withHeader({ [name]: undefined }),
          ] as const,
      ),
      [
        "bundle-header-short-hash",
        "a parentHash of 31 bytes, under the hash that follows",
        hashed({ parentHash: `0x${"00".repeat(31)}` }),
      ],
      [
        "bundle-header-long-nonce",
        "a nonce of 9 bytes, under the hash that follows",
        hashed({ nonce: `0x${"00".repeat(9)}` }),
      ],
      ["bundle-header-half-byte", "extra data of half a byte", withHeader({ extraData: "0x7" })],
      ["bundle-header-no-number", "a number without digits", withHeader({ number: "0x" })],
      [
        "bundle-header-huge-number",
        "a block number of 2 to the 53, under the hash that follows",
        hashed({ number: "0x20000000000000" }),
      ],
      [
        "bundle-header-huge-time",
        "a timestamp of 2 to the 64, under the hash that follows",
        hashed({ timestamp: "0x010000000000000000" }),
      ],
      ["bundle-header-33-bytes", "a gas limit of 33 bytes", withHeader({ gasLimit: `0x1${"00".repeat(32)}` })],
      ["bundle-header-1025-bytes", "extra data of 1,025 bytes", withHeader({ extraData: `0x${"77".repeat(1025)}` })],
    ]),
    ...rejected("anchor: UNANCHORED", unanchored, [
      ["bundle-unanchored", "nobody gave a block's hash", text],
      [
        "bundle-unanchored-elsewhere",
        "nobody gave a block's hash, and the contract is another",
        withFields({ contract: OTHER }),
      ],
    ]),
    ...rejected("anchor: HEADER_MISMATCH", question, [
      ["bundle-block-other", "the hash of another block", withQuery({ pinned: id("another block") })],
      ...Object.entries(header).map(
        ([name, hex]) =>
          [
            `bundle-header-${name.toLowerCase()}-changed`,
            `the last digit of the header's ${name} is another`,
            withHeader({ [name]: hex.slice(0, -1) + (hex.endsWith("1") ? "2" : "1") }),
          ] as const,
      ),
      ["bundle-header-cut", "requestsHash, the last field, is missing", withHeader({ requestsHash: undefined })],
      ["bundle-header-longer", "a field of the next fork", withHeader({ blockAccessListHash: id("list") })],
      ["bundle-alien", "another chain's bundle of another key of the user", JSON.stringify(sampleBundle(alien).bundle)],
    ]),
    ...rejected("root: CHAIN_ID_MISMATCH", question, [
      ["bundle-chain-other", "the bundle speaks of another chain", withFields({ chainId: 5 })],
      ["bundle-chain-zero", "the bundle speaks of chain 0", withFields({ chainId: 0 })],
      ["bundle-chain-asked", "asked about another chain", withQuery({ chainId: 5 })],
    ]),
    ...rejected("root: CONTRACT_MISMATCH", question, [
      ["bundle-contract-other", "the bundle speaks of another contract", withFields({ contract: OTHER })],
      [
        "bundle-contract-attackers",
        "a good bundle of the attacker's contract",
        on({ contract: OTHER }, { contract: CONTRACT }),
      ],
      ["bundle-slot-other", "the bundle speaks of another mapping", withFields({ usersSlot: 3 })],
      ["bundle-slot-old", "a good bundle of a contract with its mapping elsewhere", on({ usersSlot: 1 })],
    ]),
    ...rejected("root: CODE_HASH_MISMATCH", question, [
      ["bundle-code-other", "another hash than the contract's code has", withFields({ codeHash: id("other") })],
      ["bundle-code-not-pinned", "a good bundle of other code than is pinned", withQuery({ codeHash: id("other") })],
      [
        "bundle-code-says-pinned",
        "other code, with a bundle that says it is the pinned one",
        withQuery({ codeHash: id("other") }, withFields({ codeHash: id("other") })),
      ],
    ]),
    ...rejected("root: NO_CONTRACT", question, [
      ["bundle-no-account", "a branch ends where the account would be", on({ accountEnd: "nothing" })],
      ["bundle-other-account", "the leaf is another account's", on({ accountEnd: "other-leaf" })],
      ["bundle-account-off-extension", "an extension leads to others", on({ accountEnd: "other-extension" })],
      ["bundle-no-code", "an account without code", on({ codeHash: emptyCode })],
    ]),
    ...rejected("root: NOT_PUBLISHED", question, [
      ["bundle-no-slot", "a branch ends where the slot would be", on({ storageEnd: "nothing" })],
      ["bundle-other-slot", "the leaf is another slot's", on({ storageEnd: "other-leaf" })],
      ["bundle-slot-off-extension", "an extension leads to others", on({ storageEnd: "other-extension" })],
      [
        "bundle-embedded-slot",
        "the leaf is another slot's, and stands in the branch itself",
        on({ ...EMBEDDED, storageEnd: "other-leaf" }),
      ],
      ["bundle-no-storage", "the contract keeps nothing", on({ storageEnd: "nothing", storagePath: [] })],
    ]),
    ...rejected("tree: ROOT_MISMATCH", question, [
      ["bundle-root-other", "the contract keeps another root for the user", on({ root: sha256("stray") })],
      ["bundle-root-short", "the contract keeps a root of a byte", on({ root: `${"0".repeat(62)}07` })],
      ["bundle-embedded-root", "the same, in a leaf so short that it stands in the branch itself", on(EMBEDDED)],
      ["bundle-proof-alien", "a proof of another tree with another key of the user", withFields({ proof: alien })],
      [
        "bundle-proof-alien-with-root",
        "the same, with the right root in it",
        withFields({ proof: { ...alien, root: proof.root } }),
      ],
      [
        "bundle-proof-root-other",
        "another root in the proof",
        withFields({ proof: { ...proof, root: sha256("stray") } }),
      ],
      ["bundle-proof-siblings", "the proof without its siblings", withFields({ proof: { ...proof, siblings: [] } })],
    ]),
    ...rejected("record: PUBLIC_KEY_NOT_ON_CURVE", question, [
      [
        "bundle-key-off-curve",
        "a published key off the curve",
        withValue(textOf(recordOf(mine.userID, Buffer.from(publicKey.with(104, 1 ^ Number(publicKey[104])))))),
      ],
    ]),
    ...rejected("record: KEY_ID_MISMATCH", question, [
      [
        "bundle-keyid-of-another",
        "a published key with another's id",
        withValue(textOf({ ...mine, keyID: theirs.keyID })),
      ],
    ]),
    ...rejected("key: KEY_MISMATCH", question, [
      ["bundle-expected-other", "another user's key was handed out", withQuery({ expectedPublicKey: theirs.pubKey })],
      [
        "bundle-expected-bit",
        "the last bit is another",
        withQuery({
          expectedPublicKey: Buffer.from(publicKey.with(104, 1 ^ Number(publicKey[104]))).toString("base64"),
        }),
      ],
    ]),
  ];
}

/** Bundles whose tries do not lead from the block to the user's root. */
export function brokenTries(): Vector<BundleQuery>[] {
  const { bundle, question, withFields } = toolsFor({});
  const theirs = sampleBundle(proofIn(file, 2)).bundle;
  const elsewhere = sampleBundle(proof, { contract: OTHER }).bundle;
  const otherSlot = sampleBundle(proof, { usersSlot: 3 }).bundle;
  const of = (name: string, key: Trie, cases: Record<string, readonly string[]>) =>
    Object.entries(cases).map(
      ([what, nodes]) =>
        [`bundle-${name}-${what.replaceAll(" ", "-")}`, `${key}: ${what}`, withFields({ [key]: nodes })] as const,
    );
  const wrong = encodeRlp(["0x01", "0x", id("storage")]);
  const many = encodeRlp(["0x01", "0x", id("storage"), CODE_HASH, "0x"]);
  const padded = (rlp: string) => concat([rlp, "0x00"]);

  return [
    ...rejected("root: PROOF_INVALID", question, [
      ...TRIES.flatMap(([name, key]) => {
        const [branch = "", leaf = ""] = bundle[key];
        return of(name, key, {
          "no nodes": [],
          "no branch": [leaf],
          "no leaf": [branch],
          "nodes reversed": [leaf, branch],
          "another node before": [id("node"), branch, leaf],
          "the branch truncated": [branch.slice(0, -2), leaf],
          "the leaf truncated": [branch, leaf.slice(0, -2)],
          "the branch padded": [`${branch}00`, leaf],
          "the leaf padded": [branch, `${leaf}00`],
          "the leaf wrapped": [branch, encodeRlp(leaf)],
          "a digit of the branch changed": [flipped(branch), leaf],
          "a digit of the leaf changed": [branch, flipped(leaf)],
          "an empty text for the trie": ["0x80"],
          "an empty list for the trie": ["0xc0"],
        });
      }),
      [
        "bundle-tries-exchanged",
        "either proof in the other's place",
        withFields({ accountProof: bundle.storageProof, storageProof: bundle.accountProof }),
      ],
      [
        "bundle-storage-of-another-user",
        "the proof of another user's slot",
        withFields({ storageProof: theirs.storageProof }),
      ],
      [
        "bundle-storage-of-another-slot",
        "the proof of another mapping's slot",
        withFields({ storageProof: otherSlot.storageProof }),
      ],
      [
        "bundle-account-of-another",
        "the proof of another contract",
        withFields({ accountProof: elsewhere.accountProof }),
      ],
      [
        "bundle-account-leaf-padded",
        "a byte behind the account's leaf, under the root that follows",
        on({ accountLeaf: padded }),
      ],
      [
        "bundle-storage-leaf-padded",
        "a byte behind the slot's leaf, under the root that follows",
        on({ storageLeaf: padded }),
      ],
      [
        "bundle-storage-leaf-truncated",
        "the slot's leaf without its last byte, under the root that follows",
        on({ storageLeaf: (rlp) => rlp.slice(0, -2) }),
      ],
      [
        "bundle-storage-leaf-text",
        "a text for the slot's leaf, under the root that follows",
        on({ storageLeaf: (rlp) => encodeRlp(rlp) }),
      ],
      [
        "bundle-storage-leaf-of-three",
        "a node of three items, under the root that follows",
        on({ storageLeaf: () => encodeRlp(["0x20", "0x01", "0x01"]) }),
      ],
      ["bundle-storage-long-form", "the leaf's path with a longer length than it needs", on({ storageLeaf: longForm })],
      [
        "bundle-account-of-three",
        "an account of three fields, under the root that follows",
        on({ account: () => wrong }),
      ],
      ["bundle-account-of-five", "an account of five fields, under the root that follows", on({ account: () => many })],
      [
        "bundle-account-short-hash",
        "a code hash of 31 bytes in the account",
        on({ account: () => encodeRlp(["0x01", "0x", id("storage"), CODE_HASH.slice(0, -2)]) }),
      ],
      ["bundle-account-padded", "a byte behind the account, under the root that follows", on({ account: padded })],
      [
        "bundle-slot-leading-zero",
        "a root with a zero in front, under the root that follows",
        on({ slot: () => encodeRlp(`0x00${proof.root.slice(2)}`) }),
      ],
      ["bundle-slot-zero", "a zero that is stored", on({ slot: () => "0x00" })],
      ["bundle-slot-empty", "no bytes that are stored", on({ slot: () => "0x80" })],
      ["bundle-slot-33-bytes", "a number of 33 bytes", on({ slot: () => encodeRlp(`0x01${proof.root}`) })],
      ["bundle-slot-list", "a list that is stored", on({ slot: () => encodeRlp([`0x${proof.root}`]) })],
      ["bundle-slot-bare", "the root's bytes without their length", on({ slot: () => `0x${proof.root}` })],
    ]),
  ];
}

/** A node whose RLP length is one byte longer than necessary. */
function longForm(rlp: string): string {
  const [, length = "", items = ""] = /^0xf8(..)(.*)$/.exec(rlp) ?? [];
  return `0xf900${length}${items}`;
}

/** A node with a changed digit in the middle. */
function flipped(node: string): string {
  const at = node.length >> 1;
  return node.slice(0, at) + (node.charAt(at) === "0" ? "1" : "0") + node.slice(at + 1);
}
