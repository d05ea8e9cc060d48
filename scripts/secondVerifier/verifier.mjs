// A second, independent verifier, which follows docs/formats.md and test/vectors/README.md. It shares no code with the
// library, and needs only Node, and ethers for Keccak-256 and RLP. If the results of the two verifiers differ, at least
// one of them is wrong.
//
//     node scripts/secondVerifier/verifier.mjs test/vectors/*.json    compares its verdicts with the vectors, and
//                                                                     exits with 1 if any of them differs
//     node scripts/secondVerifier/verifier.mjs --json - < set.json    prints its verdicts on a set of vectors
//                                                                     as an array
//     … --key-type x25519                                             the type of the keys, if a question does not
//                                                                     name it
//     … --rpc URL --contract 0x… --merkle-url URL USER                verifies a user's published key at the
//                                                                     finalized block, or at --block, a tag or hash.
//                                                                     It trusts the endpoint only for this block
import { decodeRlp, encodeRlp, keccak256 } from "ethers";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { AccountRejection, verifyAccountFile } from "./account.mjs";
import { KEY_TYPES, lengthFaultOf } from "./keyTypes.mjs";
import { readFile, readProofs, Unavailable } from "./live.mjs";

class Rejection extends Error {
  constructor(step, code) {
    super(`${step}: ${code}`);
    this.verdict = { step, code };
  }
}

function reject(step, code) {
  throw new Rejection(step, code);
}

/** Runs a check. If it rejects the input, an error with this step is thrown. */
function inStep(step, check) {
  try {
    return check();
  } catch (error) {
    if (error instanceof Rejection) reject(step, error.verdict.code);
    throw error;
  }
}

const sha256 = (data) => createHash("sha256").update(data).digest();

// ---- JSON: objects become maps, and whole numbers become bigints ----

const STRUCTURE = '{}[]:,"0123456789 \t\r\n';
const ESCAPES = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

function readJson(text, maxDepth) {
  let at = 0;
  const value = readValue(0);
  if (peek() !== undefined) unexpected();
  return value;

  /** Returns the next character that is not white space. */
  function peek() {
    while (at < text.length && " \t\r\n".includes(text[at])) at++;
    return text[at];
  }

  function unexpected() {
    reject("file", at < text.length && !STRUCTURE.includes(text[at]) ? "JSON_FORBIDDEN_TOKEN" : "JSON_INVALID");
  }

  function take(character) {
    if (peek() !== character) unexpected();
    at++;
  }

  function readValue(depth) {
    const first = peek();
    if (first === '"') return readString();
    if (first >= "0" && first <= "9") return readNumber();
    if (first !== "{" && first !== "[") return unexpected();
    if (depth === maxDepth) reject("file", "JSON_TOO_DEEP");
    return first === "{" ? readObject(depth + 1) : readArray(depth + 1);
  }

  function readObject(depth) {
    const object = new Map();
    readItems("{", "}", () => {
      if (peek() !== '"') unexpected();
      const key = readString();
      if (object.has(key)) reject("file", "JSON_DUPLICATE_KEY");
      take(":");
      object.set(key, readValue(depth));
    });
    return object;
  }

  function readArray(depth) {
    const array = [];
    readItems("[", "]", () => array.push(readValue(depth)));
    return array;
  }

  function readItems(open, close, readItem) {
    take(open);
    if (peek() !== close) {
      readItem();
      while (peek() === ",") {
        at++;
        readItem();
      }
    }
    take(close);
  }

  function readNumber() {
    const start = at;
    while (text[at] >= "0" && text[at] <= "9") at++;
    if (text[start] === "0" && at > start + 1) reject("file", "JSON_INVALID");
    return BigInt(text.slice(start, at));
  }

  function readString() {
    let string = "";
    for (at++; text[at] !== '"'; at++) {
      if (at >= text.length || text[at] < " ") reject("file", "JSON_INVALID");
      string += text[at] === "\\" ? readEscape() : text[at];
    }
    at++;
    return string;
  }

  function readEscape() {
    const letter = text[++at];
    if (Object.hasOwn(ESCAPES, letter ?? "")) return ESCAPES[letter];
    const digits = text.slice(at + 1, at + 5);
    if (letter !== "u" || digits.length !== 4 || /[^0-9a-fA-F]/.test(digits)) reject("file", "JSON_INVALID");
    at += 4;
    return String.fromCharCode(parseInt(digits, 16));
  }
}

function readDocument(bytes, maxDepth, maxBytes = Infinity) {
  if (bytes.length > maxBytes) reject("file", "FILE_TOO_LARGE");
  const text = bytes.toString("utf8");
  // Bytes that are not UTF-8 were decoded as U+FFFD, which encodes to different bytes.
  if (!Buffer.from(text, "utf8").equals(bytes)) reject("file", "FILE_NOT_UTF8");
  return readJson(text, maxDepth);
}

// ---- Records ----

const USER_ID = /^[ybndrfg8ejkmcpqxot1uwisza345h769]{32}$/;

function hasExactly(map, keys) {
  return map.size === keys.length && keys.every((key) => map.has(key));
}

function readRecord(text, keyType) {
  if (/^[0-9a-f]{128}$/.test(text)) reject("file", "VALUE_LOOKS_LIKE_NODE");
  const record = readJson(text, 1);
  if (!(record instanceof Map) || !hasExactly(record, ["userID", "pubKey", "keyID"])) reject("file", "RECORD_INVALID");
  const userID = record.get("userID");
  if (typeof userID !== "string" || !USER_ID.test(userID)) reject("file", "USER_ID_INVALID");
  const publicKey = readBase64(record.get("pubKey"));
  const wrongLength = lengthFaultOf(keyType, publicKey);
  if (wrongLength !== undefined) reject("file", wrongLength);
  const keyID = readBase64(record.get("keyID"));
  if (keyID.length !== 16) reject("file", "KEY_ID_INVALID");
  return { userID, publicKey, keyID };
}

function readBase64(text) {
  const bytes = Buffer.from(typeof text === "string" ? text : "", "base64");
  if (bytes.toString("base64") !== text) reject("file", "BASE64_INVALID");
  return bytes;
}

// ---- Keys ----

function checkKey({ publicKey, keyID }, keyType) {
  const fault = KEY_TYPES[keyType].faultOf(publicKey);
  if (fault !== undefined) reject("record", fault);
  if (!sha256(publicKey).subarray(0, 16).equals(keyID)) reject("record", "KEY_ID_MISMATCH");
}

// ---- Files ----

const isHash = (text) => typeof text === "string" && /^[0-9a-f]{64}$/.test(text);
const isUpperCaseHash = (text) => typeof text === "string" && !isHash(text) && isHash(text.toLowerCase());

function verifyFile({ userID, root, expectedPublicKey, keyType }, bytes) {
  const file = readDocument(bytes, 3);
  const { merkle, values, lookup } = readParts(file);
  const records = values.map((value) => readRecord(value, keyType));
  checkUsers(values, records);
  if (values.length === 0) reject("file", "TREE_EMPTY");
  const expected = buildMerkle(values);
  if (expected.get("root") !== root) reject("tree", "ROOT_MISMATCH");
  checkLookup(lookup, records);
  checkMerkle(merkle, expected);

  const index = records.findIndex((record) => record.userID === userID);
  if (index === -1) reject("record", "USER_NOT_IN_FILE");
  return { index, record: checkRecord(records[index], expectedPublicKey, keyType) };
}

/** Returns the record if its key is valid and equals the given key. */
function checkRecord(record, expectedPublicKey, keyType) {
  checkKey(record, keyType);
  const { userID, publicKey, keyID } = record;
  if (expectedPublicKey !== undefined && !Buffer.from(expectedPublicKey, "base64").equals(publicKey))
    reject("key", "KEY_MISMATCH");
  return { userID, pubKey: publicKey.toString("base64"), keyID: keyID.toString("base64") };
}

const PARTS = ["merkle", "values", "lookup"];

function readParts(file) {
  if (!(file instanceof Map)) reject("file", "FILE_SHAPE");
  if ([...file.keys()].some((key) => !PARTS.includes(key))) reject("file", "FILE_UNKNOWN_KEY");
  const [merkle, values, lookup] = PARTS.map((key) => file.get(key));
  if (!(merkle instanceof Map) || !Array.isArray(values) || !(lookup instanceof Map)) reject("file", "FILE_SHAPE");
  if (!values.every((value) => typeof value === "string")) reject("file", "FILE_SHAPE");
  return { merkle, values, lookup };
}

function checkUsers(values, records) {
  if (new Set(values).size !== values.length) reject("file", "DUPLICATE_VALUE");
  if (new Set(records.map(({ userID }) => userID)).size !== records.length) reject("file", "DUPLICATE_USER");
}

/** Builds the correct `merkle` object, with the nodes in the order of the library, from the leaves up. */
function buildMerkle(values) {
  const levels = [values.map((value) => sha256(value).toString("hex"))];
  while (levels.at(-1).length > 1) {
    const pairs = levels.at(-1).flatMap((left, i, all) => (i % 2 === 0 ? [left + (all[i + 1] ?? left)] : []));
    levels.push(pairs.map((pair) => sha256(pair).toString("hex")));
  }
  const [root] = levels.at(-1);
  const merkle = new Map(Object.entries({ root, hashalgo: "sha256", leaves: values.length, levels: levels.length }));
  for (const [level, hashes] of levels.entries()) {
    for (const [i, hash] of hashes.entries()) {
      const type = hash === root ? "root" : level === 0 ? "leaf" : "node";
      const left = levels[level - 1]?.[2 * i] ?? "data";
      const right = levels[level - 1]?.[2 * i + 1] ?? left;
      const parent = levels[level + 1]?.[Math.floor(i / 2)] ?? "root";
      merkle.set(hash, { type, level, left, right, parent });
    }
  }
  return merkle;
}

function checkLookup(lookup, records) {
  if (records.some(({ userID }, i) => lookup.get(userID) !== BigInt(i))) reject("file", "LOOKUP_MISMATCH");
  if ([...lookup.keys()].some((key) => !USER_ID.test(key))) reject("file", "FILE_UNKNOWN_KEY");
  if (lookup.size !== records.length) reject("file", "LOOKUP_MISMATCH");
}

const HEADER_KEYS = ["root", "hashalgo", "leaves", "levels"];

function checkMerkle(merkle, expected) {
  if (merkle.has("hashalgo") && merkle.get("hashalgo") !== "sha256") reject("file", "FILE_HASH_ALGORITHM");
  for (const key of HEADER_KEYS) if (!merkle.has(key)) expected.delete(key);
  for (const key of merkle.keys()) {
    if (isUpperCaseHash(key)) reject("file", "HASH_NOT_LOWERCASE");
    if (!isHash(key) && !expected.has(key)) reject("file", "FILE_UNKNOWN_KEY");
  }
  for (const [key, value] of expected) {
    if (typeof value === "object") checkNode(merkle.get(key), new Map(Object.entries(value)));
    else checkSame(merkle.get(key), value);
  }
  if (merkle.size !== expected.size) reject("tree", "TREE_MISMATCH");
}

function checkNode(node, expected) {
  if (!(node instanceof Map)) reject("tree", "TREE_MISMATCH");
  for (const [field, value] of expected) checkSame(node.get(field), value);
  if (node.size !== expected.size) reject("file", "FILE_UNKNOWN_KEY");
}

function checkSame(actual, expected) {
  if (isUpperCaseHash(actual)) reject("file", "HASH_NOT_LOWERCASE");
  if (actual !== (typeof expected === "number" ? BigInt(expected) : expected)) reject("tree", "TREE_MISMATCH");
}

// ---- Proofs ----

const isText = (value, form) => typeof value === "string" && form.test(value);
const isList = (value, most) => Array.isArray(value) && value.length <= most;
const HASH = /^[0-9a-f]{64}$/;

function readProof(proof, keyType) {
  const shape = (fits) => fits || reject("file", "PROOF_SHAPE");
  shape(proof instanceof Map && hasExactly(proof, ["format", "value", "siblings", "root"]));
  const [value, siblings, root] = ["value", "siblings", "root"].map((key) => proof.get(key));
  shape(proof.get("format") === "keyroot-proof-v1" && typeof value === "string" && isText(root, HASH));
  shape(isList(siblings, 20));
  for (const sibling of siblings) {
    shape(sibling instanceof Map && hasExactly(sibling, ["side", "hash"]));
    shape(["left", "right"].includes(sibling.get("side")) && isText(sibling.get("hash"), HASH));
  }
  return { value, siblings, root, record: inStep("record", () => readRecord(value, keyType)) };
}

function checkUser({ record }, userID) {
  if (record.userID !== userID) reject("record", "USER_MISMATCH");
}

function verifyMerkleProof(proof, { userID, root, expectedPublicKey, keyType }) {
  checkUser(proof, userID);
  let node = sha256(proof.value).toString("hex");
  for (const sibling of proof.siblings) {
    const [side, hash] = [sibling.get("side"), sibling.get("hash")];
    node = sha256(side === "left" ? hash + node : node + hash).toString("hex");
  }
  if (proof.root !== root || node !== root) reject("tree", "ROOT_MISMATCH");
  return { record: checkRecord(proof.record, expectedPublicKey, keyType) };
}

function verifyProofDocument(question, bytes) {
  return verifyMerkleProof(readProof(readDocument(bytes, 3, 2 ** 14), question.keyType), question);
}

// ---- Bundles ----

const BUNDLE = "format chainId contract codeHash usersSlot proof header accountProof storageProof".split(" ");
const NODE = /^0x(?:[0-9a-f]{2}){1,1024}$/;
/** The fields of a header in order. Each has its length in bytes, where n is a number and * means any length. */
const HEADER = [
  "parentHash 32, sha3Uncles 32, miner 20, stateRoot 32, transactionsRoot 32, receiptsRoot 32, logsBloom 256",
  "difficulty n, number n, gasLimit n, gasUsed n, timestamp n, extraData *, mixHash 32, nonce 8, baseFeePerGas n",
  "withdrawalsRoot 32, blobGasUsed n, excessBlobGas n, parentBeaconBlockRoot 32, requestsHash 32",
  "blockAccessListHash 32, slotNumber n",
].flatMap((line) => line.split(", ").map((field) => field.split(" ")));
const EMPTY_TRIE = keccak256("0x80");
const EMPTY_CODE = keccak256("0x");

function readBundle(bundle, keyType) {
  const shape = (fits) => fits || reject("file", "BUNDLE_SHAPE");
  const present = ["statement", "account"].filter((name) => bundle instanceof Map && bundle.has(name));
  shape(bundle instanceof Map && hasExactly(bundle, [...BUNDLE, ...present]));
  shape(!present.includes("statement") || typeof bundle.get("statement") === "string");
  shape(bundle.get("format") === "keyroot-bundle-v1");
  const parts = { ...Object.fromEntries(bundle), proof: readProof(bundle.get("proof"), keyType) };
  for (const count of [parts.chainId, parts.usersSlot]) shape(typeof count === "bigint" && count < 2n ** 53n);
  shape(isText(parts.contract, /^0x[0-9a-f]{40}$/) && isText(parts.codeHash, /^0x[0-9a-f]{64}$/));
  shape(parts.header instanceof Map && [...parts.header.values()].every((hex) => isText(hex, /^0x[0-9a-f]*$/)));
  const isNodes = (nodes) => isList(nodes, 65) && nodes.every((node) => isText(node, NODE));
  shape([parts.accountProof, parts.storageProof].every(isNodes));
  if (!present.includes("account")) return parts;
  const { account } = parts;
  shape(account instanceof Map && hasExactly(account, ["file", "storageProof"]));
  const [file, storageProof] = [account.get("file"), account.get("storageProof")];
  shape(typeof file === "string" && isNodes(storageProof));
  return { ...parts, account: { file, storageProof } };
}

function hashHeader(header) {
  const fields = HEADER.slice(0, header.size);
  const isWhole = header.size >= 15 && fields.length === header.size && fields.every(([name]) => header.has(name));
  if (!isWhole) reject("anchor", "HEADER_INVALID");
  const items = fields.map(([name, size]) => encodeField(header.get(name), size));
  const [number, timestamp] = ["number", "timestamp"].map((name) => Number(header.get(name)));
  if (![number, timestamp].every(Number.isSafeInteger)) reject("anchor", "HEADER_INVALID");
  return { hash: keccak256(encodeRlp(items)), stateRoot: header.get("stateRoot"), block: { number, timestamp } };
}

function encodeField(hex, size) {
  const bytes = (hex.length - 2) / 2;
  if (bytes > 1024) reject("anchor", "HEADER_INVALID");
  if (size === "n") {
    const digits = hex.slice(2).replace(/^0+/, "");
    if (bytes === 0 || digits.length > 64) reject("anchor", "HEADER_INVALID");
    return `0x${digits.length % 2 === 0 ? "" : "0"}${digits}`;
  }
  if (!Number.isInteger(bytes) || (size !== "*" && bytes !== Number(size))) reject("anchor", "HEADER_INVALID");
  return hex;
}

/** Returns the ids whose slots the bundle must prove: the user id, or the slots of the newest key of an account. */
function readSlots(bundle, { userID, accounts, chainId, contract }) {
  if (!accounts) {
    if (bundle.account !== undefined) reject("file", "BUNDLE_SHAPE");
    return { slotID: userID };
  }
  if (bundle.account === undefined) reject("file", "ACCOUNT_MISSING");
  try {
    return verifyAccountFile(Buffer.from(bundle.account.file), { userID, chainId, contract });
  } catch (error) {
    if (error instanceof AccountRejection) reject("file", error.verdict.code);
    throw error;
  }
}

function verifyBundle({ userID, pinned, expectedPublicKey, keyType, accounts, ...trusted }, bytes) {
  const bundle = readBundle(readDocument(bytes, 4, 2 ** 16), keyType);
  const { contract, codeHash, proof } = bundle;
  const { slotID, nextSlotID, number, publicKey } = readSlots(bundle, { userID, accounts, ...trusted });
  checkUser(proof, slotID);
  const { hash, stateRoot, block } = hashHeader(bundle.header);
  if (pinned === undefined) reject("anchor", "UNANCHORED");
  if (hash !== pinned) reject("anchor", "HEADER_MISMATCH");
  if (Number(bundle.chainId) !== trusted.chainId) reject("root", "CHAIN_ID_MISMATCH");
  if (contract !== trusted.contract.toLowerCase()) reject("root", "CONTRACT_MISMATCH");
  if (Number(bundle.usersSlot) !== usersSlotOf(trusted)) reject("root", "CONTRACT_MISMATCH");
  if (codeHash !== (trusted.codeHash ?? codeHash)) reject("root", "CODE_HASH_MISMATCH");

  const { code, rootOf } = readContract(stateRoot, bundle);
  const root = rootOf(slotID, bundle.storageProof);
  const nextRoot = accounts && rootOf(nextSlotID, bundle.account.storageProof);
  if (code !== codeHash) reject("root", "CODE_HASH_MISMATCH");
  if (nextRoot !== undefined) reject("root", "SUCCESSOR_UNPROVEN");
  if (root === undefined) reject("root", "NOT_PUBLISHED");
  if (!accounts) return { ...verifyMerkleProof(proof, { userID, root, expectedPublicKey, keyType }), root, block };
  const { record } = verifyMerkleProof(proof, { userID: slotID, root, keyType });
  if (record.pubKey !== publicKey) reject("record", "SUCCESSOR_UNPROVEN");
  if (expectedPublicKey !== undefined && expectedPublicKey !== publicKey) reject("key", "KEY_MISMATCH");
  return { record, root, block, account: { userID, number } };
}

/**
 * Returns the hash of the contract's code, and a function that returns the root of an id. The function returns
 * undefined for an id without a root.
 */
function readContract(stateRoot, { contract, accountProof, usersSlot }) {
  const account = lookUp(stateRoot, contract, accountProof);
  const [storageRoot, code] = account === undefined ? [EMPTY_TRIE, EMPTY_CODE] : readAccount(account);
  if (code === EMPTY_CODE) reject("root", "NO_CONTRACT");
  const rootOf = (id, nodes) => {
    const stored = storageRoot === EMPTY_TRIE ? undefined : lookUp(storageRoot, slotOf(id, usersSlot), nodes);
    return stored === undefined ? undefined : readWord(stored);
  };
  return { code, rootOf };
}

function idOf(userID) {
  const digits = "ybndrfg8ejkmcpqxot1uwisza345h769";
  const bits = Array.from(userID, (letter) => digits.indexOf(letter).toString(2).padStart(5, "0")).join("");
  return BigInt(`0b${bits}`).toString(16).padStart(40, "0");
}

/** The predecessor PubKeyTrust on mainnet has its mapping in slot 1. */
function usersSlotOf({ chainId, contract }) {
  return chainId === 1 && contract.toLowerCase() === "0x997715d0eb47a50d7521ed0d2d023624a4333f9a" ? 1 : 2;
}

function slotOf(userID, usersSlot) {
  return keccak256(`0x${idOf(userID).padEnd(64, "0")}${usersSlot.toString(16).padStart(64, "0")}`);
}

// ---- Tries ----

function invalidProof() {
  reject("root", "PROOF_INVALID");
}

/** Decodes RLP to lists and hex. Rejects every encoding that is not canonical. */
function readRlp(rlp) {
  let value;
  try {
    value = decodeRlp(rlp);
  } catch {
    return invalidProof();
  }
  return encodeRlp(value) === rlp ? value : invalidProof();
}

/** Returns the value of a key in a trie, or undefined if the proof shows that there is none. */
function lookUp(root, key, proof) {
  const nodes = new Map(proof.map((node) => [keccak256(node), node]));
  const [top] = nodes.keys();
  if (top !== root) invalidProof();
  const follow = (child) => (Array.isArray(child) ? child : readRlp(nodes.get(child) ?? invalidProof()));

  let path = keccak256(key).slice(2);
  for (let node = follow(root); ;) {
    if (!Array.isArray(node) || ![2, 17].includes(node.length)) return invalidProof();
    if (node.length === 17) {
      if (path === "") return invalidProof();
      const child = node[Number.parseInt(path[0], 16)];
      if (child === "0x") return undefined;
      path = path.slice(1);
      node = follow(child);
    } else {
      const [prefix, child] = node;
      const { isLeaf, nibbles } = readPrefix(prefix);
      if (isLeaf) return nibbles === path ? child : undefined;
      if (!path.startsWith(nibbles)) return undefined;
      path = path.slice(nibbles.length);
      node = follow(child);
    }
  }
}

/** Returns the flag and the nibbles of a path (Yellow Paper, appendix C). */
function readPrefix(hex) {
  const [, even, odd, nibbles] = (typeof hex === "string" && /^0x(?:([02])0|([13]))([0-9a-f]*)$/.exec(hex)) || [];
  if (nibbles === undefined) return invalidProof();
  return { isLeaf: even === "2" || odd === "3", nibbles };
}

/** Returns the storage root and the code hash of an account. */
function readAccount(rlp) {
  const fields = typeof rlp === "string" ? readRlp(rlp) : invalidProof();
  if (!Array.isArray(fields) || fields.length !== 4) invalidProof();
  const hashes = fields.slice(2);
  return hashes.every((hash) => isText(hash, /^0x[0-9a-f]{64}$/)) ? hashes : invalidProof();
}

/** Returns the root in a storage slot. Its RLP must encode a nonzero number without leading zero bytes. */
function readWord(rlp) {
  const hex = typeof rlp === "string" ? readRlp(rlp) : invalidProof();
  if (!isText(hex, /^0x(?!00)(?:[0-9a-f]{2}){1,32}$/)) invalidProof();
  return hex.slice(2).padStart(64, "0");
}

// ---- Live users ----

const HEX = /^0x[0-9a-f]*$/;

/** Verifies the published key of a user with the whole file. */
async function verifyLive({ rpc, contract: address, merkleUrl, block: tag, userID, keyType }) {
  if (!USER_ID.test(userID)) reject("file", "USER_ID_INVALID");
  const contract = address.toLowerCase();
  const slotOn = (chainId) => slotOf(userID, usersSlotOf({ chainId, contract }));
  const live = await readProofs({ rpc, contract, slotOn, block: tag });
  const names = HEADER.map(([name]) => name).filter((name) => live.header[name] !== undefined);
  if (!names.every((name) => isText(live.header[name], HEX))) reject("anchor", "HEADER_INVALID");
  const { hash, stateRoot, block } = hashHeader(new Map(names.map((name) => [name, live.header[name]])));
  if (hash !== (tag.startsWith("0x") ? tag : live.header.hash)) reject("anchor", "HEADER_MISMATCH");
  for (const nodes of [live.accountProof, live.storageProof])
    if (!isList(nodes, 65) || !nodes.every((node) => isText(node, NODE))) invalidProof();
  const usersSlot = usersSlotOf({ chainId: live.chainId, contract });
  const { rootOf } = readContract(stateRoot, { contract, accountProof: live.accountProof, usersSlot });
  const root = rootOf(userID, live.storageProof);
  if (root === undefined) reject("root", "NOT_PUBLISHED");
  const { record } = verifyFile({ userID, root, keyType }, await readFile(merkleUrl, root));
  return { record, root, block: { ...block, hash } };
}

// ---- Safety codes ----

function verifySafetyCode({ mine, contact }, bytes) {
  const [my, their] = [mine, contact].map(readHolder);
  const text = bytes.toString("utf8");
  const format = `KEYROOT-SAFETY-${mine.account === undefined ? 1 : 2}`;
  if (!new RegExp(`^${format}(:[0-9A-F]{40}){2}(:[0-9A-F]{64}){2}$`).test(text)) reject("file", "SAFETY_CODE_INVALID");
  const [, shower, other, ...fingerprints] = text.toLowerCase().split(":");
  if (shower !== their.id || other !== my.id) reject("record", "USER_MISMATCH");
  if (fingerprints.join() !== [their, my].map(({ hash }) => hash.toString("hex").slice(0, 64)).join())
    reject("key", "SAFETY_CODE_MISMATCH");
  const [first, second] = [my, their].map(({ hash }) => hash).map(digitsOf);
  return { digits: first < second ? first + second : second + first };
}

function readHolder({ userID, publicKey, account }) {
  const id = idOf(userID);
  const [text] = account?.split("\n\n") ?? [];
  const key = text === undefined ? Buffer.from(publicKey, "base64") : sha256(text.endsWith("\n") ? text : `${text}\n`);
  if (account !== undefined && key.toString("hex", 0, 20) !== id) reject("file", "ACCOUNT_MISMATCH");
  const domain = account === undefined ? "keyroot-safety-code-v1" : "keyroot-safety-code-v2";
  const hashOf = (...parts) => createHash("sha512").update(Buffer.concat(parts)).digest();
  let hash = hashOf(Buffer.from(domain), Buffer.from(id, "hex"), key);
  for (let count = 1; count < 5200; count++) hash = hashOf(hash, key);
  return { id, hash };
}

function digitsOf(hash) {
  const groups = [0, 1, 2, 3, 4, 5].map((i) => BigInt(`0x${hash.toString("hex", 5 * i, 5 * i + 5)}`) % 100000n);
  return groups.map((group) => group.toString().padStart(5, "0")).join("");
}

// ---- Vectors ----

/** Returns the exact bytes of a vector. */
function bytesOf({ text, base64, values, sha256: hash }, { keyType }) {
  if (text !== undefined) return Buffer.from(text, "utf8");
  if (base64 !== undefined) return Buffer.from(base64, "base64");
  const merkle = Object.fromEntries(buildMerkle(values));
  const lookup = Object.fromEntries(values.map((value, i) => [readRecord(value, keyType).userID, i]));
  const bytes = Buffer.from(JSON.stringify({ merkle, values, lookup }));
  if (sha256(bytes).toString("hex") !== hash) throw new Error("These values give another file than the vector's.");
  return bytes;
}

const VERIFIERS = {
  ...{ "merkle-file": verifyFile, proof: verifyProofDocument, bundle: verifyBundle },
  "safety-code": verifySafetyCode,
};

function verdictOf(kind, vector) {
  try {
    return { verified: VERIFIERS[kind](vector.question, bytesOf(vector.input, vector.question)) };
  } catch (error) {
    return rejectionOf(error);
  }
}

function rejectionOf(error) {
  if (error instanceof Rejection) return error.verdict;
  throw error;
}

const ARGUMENTS = parseArgs({
  options: {
    ...{ json: { type: "boolean" }, "key-type": { type: "string", default: "curve41417" } },
    ...{ rpc: { type: "string" }, contract: { type: "string" }, "merkle-url": { type: "string" } },
    block: { type: "string", default: "finalized" },
  },
  allowPositionals: true,
});
const KEY_TYPE = ARGUMENTS.values["key-type"];
if (!Object.hasOwn(KEY_TYPES, KEY_TYPE))
  throw new Error(`--key-type must be one of ${Object.keys(KEY_TYPES).join(", ")}.`);

function readVectors(path) {
  const { format, kind, vectors } = JSON.parse(readFileSync(path === "-" ? 0 : path, "utf8"));
  if (format !== "keyroot-vectors-v1" || !Object.hasOwn(VERIFIERS, kind))
    throw new Error(`${path} has an unknown format or kind.`);
  return vectors.map((vector) => ({ ...vector, kind, question: { keyType: KEY_TYPE, ...vector.question } }));
}

/** Compares the verdicts with those of the vectors, or prints them. */
function judgeVectors(paths) {
  const vectors = paths.flatMap(readVectors);
  const verdicts = vectors.map((vector) => verdictOf(vector.kind, vector));
  if (ARGUMENTS.values.json) {
    process.stdout.write(JSON.stringify(verdicts));
    return;
  }
  const agreed = vectors.filter(({ verdict }, i) => isDeepStrictEqual(verdict, verdicts[i])).length;
  for (const [i, { name, verdict }] of vectors.entries()) {
    const words = `${JSON.stringify(verdict)}, found ${JSON.stringify(verdicts[i])}`;
    process.stdout.write(isDeepStrictEqual(verdict, verdicts[i]) ? `agree ${name}\n` : `DISAGREE ${name}: ${words}\n`);
  }
  process.stdout.write(`${agreed} of ${vectors.length} vectors agree.\n`);
  // Fail for an empty set, because an empty set proves nothing.
  process.exitCode = agreed > 0 && agreed === vectors.length ? 0 : 1;
}

/** Prints the verdict on a live user. The exit code is 1 if the key is rejected, and 3 if a server gave no answer. */
async function judgeLiveUser({ rpc, contract, "merkle-url": merkleUrl, block }, [userID]) {
  if (contract === undefined || merkleUrl === undefined || userID === undefined) {
    process.stderr.write("--rpc needs --contract, --merkle-url and a user id.\n");
    process.exitCode = 2;
    return;
  }
  try {
    const verdict = await verifyLive({ rpc, contract, merkleUrl, block, userID, keyType: KEY_TYPE }).then(
      (verified) => ({ verified }),
      rejectionOf,
    );
    process.stdout.write(`${JSON.stringify(verdict)}\n`);
    process.exitCode = "verified" in verdict ? 0 : 1;
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 3;
  }
}

if (ARGUMENTS.values.rpc === undefined) judgeVectors(ARGUMENTS.positionals);
else await judgeLiveUser(ARGUMENTS.values, ARGUMENTS.positionals);
