/**
 * Verifies block proofs of Ethereum's mainnet by docs/formats.md:
 *
 *     node scripts/secondVerifier/blockProof.mjs CHECKPOINT PROOF…
 *
 * For each proof, it prints the hash of the block, or the step and code of the error. It exits with 1 if it rejects a
 * proof. It shares no code with the library, and only the curve BLS12-381 comes from a package. It adds up the keys
 * that signed, whereas the library subtracts those that did not.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { bls12_381 } from "@noble/curves/bls12-381.js";

const SLOTS_PER_EPOCH = 32;
const SLOTS_PER_PERIOD = SLOTS_PER_EPOCH * 256;
const MEMBERS = 512;
const KEY = 48;
const GENESIS_TIME = 1_606_824_023;
const GENESIS_ROOT = Buffer.from("4b363db94e286120d76eb905340fdd4e54bfe9f06bf33ff6cf5ad27f511bfe95", "hex");
/**
 * The forks of the beacon chain. Each has its first epoch, its version, and the indices in the state of three values:
 * the committee, the next committee and the finalized root.
 */
const FORKS = [
  { epoch: 411_392, version: "06000000", committee: 86, next: 87, finality: 169 },
  { epoch: 364_032, version: "05000000", committee: 86, next: 87, finality: 169 },
  { epoch: 269_568, version: "04000000", committee: 54, next: 55, finality: 105 },
];
/** The index of the execution payload in the body of a beacon block. */
const PAYLOAD = 25;
/**
 * The size in bytes of each field in an execution header. It is 0 for `extra_data`, whose size varies, because the
 * fixed part of the header contains only the offset of this field.
 */
const EXECUTION = [32, 20, 32, 32, 256, 32, 8, 8, 8, 8, 0, 32, 32, 32, 32, 8, 8];
const EXECUTION_BLOCK_HASH = 12;
const TEXT = /^[A-Za-z0-9+/]+={0,2}$/;

class Refusal extends Error {}
const refuse = (step, code) => {
  throw new Refusal(`${step} ${code}`);
};
const check = (fits) => fits || refuse("anchor", "LIGHT_CLIENT_INVALID");
const shape = (fits) => fits || refuse("file", "BUNDLE_SHAPE");

const sha256 = (...parts) => createHash("sha256").update(Buffer.concat(parts)).digest();
const periodOf = (slot) => Math.floor(slot / SLOTS_PER_PERIOD);
const forkOf = (slot) => FORKS.find(({ epoch }) => slot >= epoch * SLOTS_PER_EPOCH) ?? shape(false);

// SSZ ----

/** Returns the root of a tree over leaves of 32 bytes. */
function rootOf(leaves) {
  if (leaves.length === 1) return leaves[0];
  const half = 2 ** Math.ceil(Math.log2(leaves.length)) / 2;
  const right = leaves.slice(half);
  return sha256(rootOf(leaves.slice(0, half)), right.length === 0 ? zeros(half) : rootOf(fill(right, half)));
}

const zeros = (count) => (count === 1 ? Buffer.alloc(32) : sha256(zeros(count / 2), zeros(count / 2)));
const fill = (leaves, count) => [...leaves, ...Array.from({ length: count - leaves.length }, () => Buffer.alloc(32))];
const padded = (bytes) => Buffer.concat([bytes, Buffer.alloc((32 - (bytes.length % 32)) % 32)]);
const chunksOf = (bytes) => Array.from({ length: bytes.length / 32 }, (_, i) => bytes.subarray(32 * i, 32 * i + 32));

/** Returns a reader for the parts of a container, from first to last. */
function reader(bytes) {
  let position = 0;
  return {
    take(size) {
      shape(position + size <= bytes.length);
      position += size;
      return bytes.subarray(position - size, position);
    },
    number(size) {
      const value = size === 4 ? this.take(4).readUInt32LE() : Number(this.take(8).readBigUInt64LE());
      shape(Number.isSafeInteger(value));
      return value;
    },
    branch(index) {
      return chunksOf(this.take(32 * Math.floor(Math.log2(index))));
    },
    get position() {
      return position;
    },
  };
}

function isInTree(leaf, branch, index, root) {
  let [node, i] = [leaf, index];
  for (const other of branch) {
    node = i % 2 === 0 ? sha256(node, other) : sha256(other, node);
    i = Math.floor(i / 2);
  }
  return node.equals(root);
}

function readHeader(bytes) {
  const from = reader(bytes);
  const fields = [8, 8, 32, 32, 32].map((size) => from.take(size));
  const start = from.number(4);
  const branch = from.branch(PAYLOAD);
  shape(start === from.position);
  const [slot, , , stateRoot, bodyRoot] = fields;
  const { root, blockHash } = readExecution(bytes.subarray(start));
  return {
    ...{ slot: Number(slot.readBigUInt64LE()), root: rootOf(fields.map(padded)), stateRoot, blockHash },
    hasBlock: isInTree(root, branch, PAYLOAD, bodyRoot),
  };
}

function readExecution(bytes) {
  const from = reader(bytes);
  let offset = 0;
  const fields = EXECUTION.map((size) => {
    if (size > 0) return from.take(size);
    offset = from.number(4);
    return undefined;
  });
  const extra = bytes.subarray(offset);
  shape(offset === from.position && extra.length <= 32);
  const length = Buffer.alloc(32);
  length[0] = extra.length;
  const roots = fields.map((field) =>
    field === undefined
      ? sha256(extra.length === 0 ? zeros(1) : padded(extra), length)
      : rootOf(chunksOf(padded(field))),
  );
  return { root: rootOf(roots), blockHash: fields[EXECUTION_BLOCK_HASH] };
}

function readCommittee(bytes) {
  const keys = Array.from({ length: MEMBERS + 1 }, (_, i) => bytes.subarray(KEY * i, KEY * (i + 1)));
  const roots = keys.map((key) => rootOf(chunksOf(padded(key))));
  return { keys: keys.slice(0, MEMBERS), root: sha256(rootOf(roots.slice(0, MEMBERS)), roots[MEMBERS]) };
}

/** Returns the slot of a container's first header, which determines the layout. */
const firstSlot = (bytes) => {
  shape(bytes.length >= 4);
  const start = bytes.readUInt32LE();
  shape(start + 8 <= bytes.length);
  return Number(bytes.readBigUInt64LE(start));
};

function readBootstrap(bytes) {
  const fork = forkOf(firstSlot(bytes));
  const from = reader(bytes);
  const start = from.number(4);
  const committee = readCommittee(from.take(KEY * (MEMBERS + 1)));
  const branch = from.branch(fork.committee);
  shape(start === from.position);
  return { header: readHeader(bytes.subarray(start)), committee, branch, fork };
}

/** Reads an update. @param withCommittee false for a finality update */
function readUpdate(bytes, withCommittee) {
  const fork = forkOf(firstSlot(bytes));
  const from = reader(bytes);
  const first = from.number(4);
  const next = withCommittee ? readCommittee(from.take(KEY * (MEMBERS + 1))) : undefined;
  const nextBranch = withCommittee ? from.branch(fork.next) : [];
  const second = from.number(4);
  const finalityBranch = from.branch(fork.finality);
  const [bits, signature] = [from.take(MEMBERS / 8), from.take(96)];
  const signatureSlot = from.number(8);
  shape(first === from.position && second >= first);
  const [attested, finalized] = [bytes.subarray(first, second), bytes.subarray(second)].map(readHeader);
  return { attested, finalized, finalityBranch, next, nextBranch, bits, signature, signatureSlot, fork };
}

// Rules ----

function isSigned({ attested, bits, signature, signatureSlot }, { keys }) {
  const present = keys.filter((_, i) => (bits[i >> 3] >> (i & 7)) & 1);
  if (3 * present.length < 2 * MEMBERS) return false;
  const version = padded(Buffer.from(forkOf(signatureSlot - 1).version, "hex"));
  const domain = Buffer.concat([Buffer.from("07000000", "hex"), sha256(version, GENESIS_ROOT).subarray(0, 28)]);
  const suite = Buffer.from("BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_");
  const bls = bls12_381.longSignatures;
  try {
    const points = present.map((key) => bls12_381.G1.Point.fromBytes(key));
    const message = bls.hash(sha256(attested.root, domain), suite);
    return bls.verify(bls.Signature.fromBytes(signature), message, bls.aggregatePublicKeys(points));
  } catch {
    return false;
  }
}

/** Returns the state after an update. */
function apply(state, update, now) {
  const { attested, finalized, next, signatureSlot, fork } = update;
  check(signatureSlot <= now && signatureSlot > attested.slot && attested.slot >= finalized.slot);
  const period = periodOf(state.slot);
  const isOfPeriod = [attested, finalized].every(({ slot }) => periodOf(slot) === period);
  const addsCommittee = state.next === undefined && next !== undefined && isOfPeriod;
  shape(finalized.slot > state.slot || addsCommittee);
  const signers = { [period]: state.committee, [period + 1]: state.next }[periodOf(signatureSlot)];
  check(signers !== undefined && attested.hasBlock && finalized.hasBlock);
  check(isInTree(finalized.root, update.finalityBranch, fork.finality, attested.stateRoot));
  if (next !== undefined) {
    check(isInTree(next.root, update.nextBranch, fork.next, attested.stateRoot));
    check(state.next === undefined || periodOf(attested.slot) !== period || next.root.equals(state.next.root));
  }
  check(isSigned(update, signers));
  const { slot, blockHash } = finalized.slot > state.slot ? finalized : state;
  return periodOf(slot) > period
    ? { slot, blockHash, committee: state.next, next }
    : { slot, blockHash, committee: state.committee, next: state.next ?? next };
}

/** Verifies a block proof. @returns the hash of the block */
function verifyBlockProof(proof, checkpoint) {
  const { format, bootstrap, updates, finalityUpdate, chainId } = proof;
  shape(format === "keyroot-block-proof-v1" && Array.isArray(updates));
  const texts = [bootstrap, ...updates, ...(finalityUpdate === undefined ? [] : [finalityUpdate])];
  shape(texts.every((text) => typeof text === "string" && TEXT.test(text)));
  if (chainId !== 1) refuse("root", "CHAIN_ID_MISMATCH");
  const { header, committee, branch, fork } = readBootstrap(Buffer.from(bootstrap, "base64"));
  check(`0x${header.root.toString("hex")}` === checkpoint);
  check(header.hasBlock && isInTree(committee.root, branch, fork.committee, header.stateRoot));
  let state = { slot: header.slot, blockHash: header.blockHash, committee, next: undefined };
  const currentSlot = Math.floor((Date.now() / 1000 - GENESIS_TIME) / 12);
  for (const text of updates) state = apply(state, readUpdate(Buffer.from(text, "base64"), true), currentSlot);
  if (finalityUpdate !== undefined)
    state = apply(state, readUpdate(Buffer.from(finalityUpdate, "base64"), false), currentSlot);
  return `0x${state.blockHash.toString("hex")}`;
}

/** Returns the hash of the block, or the step and code of the error. */
function verdictOf(proof, checkpoint) {
  try {
    return verifyBlockProof(proof, checkpoint);
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

const [checkpoint, ...paths] = process.argv.slice(2);
for (const path of paths) {
  const verdict = verdictOf(JSON.parse(readFileSync(path, "utf8")), checkpoint);
  process.stdout.write(`${verdict}\n`);
  if (!verdict.startsWith("0x")) process.exitCode = 1;
}
