import { hasOwn } from "../../engine/language.ts";
import { equalBytes } from "@noble/curves/utils.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { hexToBytes } from "../../bytes/hex.ts";
import { TransportError } from "../../errors.ts";
import { describeValue, isObject } from "../../input/values.ts";

/**
 * A type of SSZ (consensus-specs, `ssz/simple-serialize.md`). This file contains only the types that occur in
 * light-client responses. Numbers are kept as bytes, so that a value from SSZ equals the same value from JSON. For a
 * malformed value, all functions throw TransportError BEACON_ANSWER_INVALID.
 */
export interface SszType<T> {
  /** The size of a value in bytes. Undefined if values differ in size. */
  readonly size: number | undefined;
  decode(bytes: Uint8Array): T;
  encode(value: T): Uint8Array;
  /** Parses a value from the JSON of the Beacon API. */
  fromJson(value: unknown): T;
  /** Computes the `hash_tree_root` of a value: 32 bytes. */
  root(value: T): Uint8Array;
}

export type ValueOf<Type> = Type extends SszType<infer T> ? T : never;

/** The size of an offset in bytes. An offset points to a value of variable size. */
const OFFSET_BYTES = 4;
const CHUNK_BYTES = 32;

export function malformed(problem: string): TransportError {
  return new TransportError("BEACON_ANSWER_INVALID", `A beacon endpoint's response is malformed: ${problem}.`);
}

/** Computes the hash of two chunks: 32 bytes. */
export function hashPair(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(concatBytes(left, right));
}

/** Computes the root of a tree of chunks. If the number of chunks is not a power of two, chunks of zeros are added. */
function merkleize(chunks: readonly Uint8Array[]): Uint8Array {
  let level = chunks;
  for (let zero: Uint8Array = new Uint8Array(CHUNK_BYTES); level.length > 1; zero = hashPair(zero, zero)) {
    const next: Uint8Array[] = [];
    for (let i = 0; i < level.length; i += 2) next.push(hashPair(level[i] ?? zero, level[i + 1] ?? zero));
    level = next;
  }
  return level[0] ?? new Uint8Array(CHUNK_BYTES);
}

/** Splits bytes into chunks of 32 bytes. Zeros fill the last chunk. */
function chunksOf(bytes: Uint8Array): Uint8Array[] {
  const padded = new Uint8Array(Math.ceil(bytes.length / CHUNK_BYTES) * CHUNK_BYTES);
  padded.set(bytes);
  return split(padded, CHUNK_BYTES);
}

function split(bytes: Uint8Array, size: number): Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; start += size) parts.push(bytes.subarray(start, start + size));
  return parts;
}

function checkSize(bytes: Uint8Array, size: number): Uint8Array {
  if (bytes.length === size) return bytes;
  throw malformed(`a value has ${bytes.length} bytes instead of ${size}`);
}

function parseHex(value: unknown, maxBytes: number): Uint8Array {
  if (typeof value === "string" && value.length <= 2 + 2 * maxBytes && /^0x(?:[0-9a-f]{2})*$/i.test(value))
    return hexToBytes(value.slice(2));
  throw malformed(`${describeValue(value)} is not hex of at most ${maxBytes} bytes`);
}

/**
 * Reads a little-endian `uint64`. The result is not exact from 2^53 on. `getBigUint64` is not used, because Hermes
 * converts BigInts from 2^63 on to wrong numbers.
 */
export function readUint64(bytes: Uint8Array, position = 0): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset + position, 8);
  return view.getUint32(4, true) * 2 ** 32 + view.getUint32(0, true);
}

/** Parses decimal digits as a little-endian number of `size` bytes. */
function parseDecimal(value: unknown, size: number): Uint8Array {
  if (typeof value !== "string" || !/^\d{1,78}$/.test(value))
    throw malformed(`${describeValue(value)} is not a number`);
  const hex = BigInt(value)
    .toString(16)
    .padStart(2 * size, "0");
  return checkSize(hexToBytes(hex).reverse(), size);
}

/** Returns the type for a fixed number of bytes, such as `BytesN` or a bit vector. */
export function byteVector(size: number): SszType<Uint8Array> {
  return {
    size,
    decode: (bytes) => checkSize(bytes, size),
    encode: (value) => value,
    fromJson: (value) => checkSize(parseHex(value, size), size),
    root: (value) => merkleize(chunksOf(value)),
  };
}

/** Returns the type for a little-endian number of `size` bytes. */
export function uint(size: number): SszType<Uint8Array> {
  return { ...byteVector(size), fromJson: (value) => parseDecimal(value, size) };
}

/**
 * Returns the type for at most 32 bytes. A value's root is the hash of its bytes, padded with zeros, and of their
 * number.
 */
export function byteList(): SszType<Uint8Array> {
  const check = (bytes: Uint8Array) => {
    if (bytes.length <= CHUNK_BYTES) return bytes;
    throw malformed(`a value has ${bytes.length} bytes instead of at most ${CHUNK_BYTES}`);
  };
  return {
    size: undefined,
    decode: check,
    encode: (value) => value,
    fromJson: (value) => parseHex(value, CHUNK_BYTES),
    root: (value) => {
      const [chunk = new Uint8Array(CHUNK_BYTES)] = chunksOf(value);
      const length = new Uint8Array(CHUNK_BYTES);
      length[0] = value.length;
      return hashPair(chunk, length);
    },
  };
}

/** Returns the type for a fixed number of values of equal size. */
export function vector(type: SszType<Uint8Array>, length: number): SszType<Uint8Array[]> {
  const { size = 0 } = type;
  return {
    size: size * length,
    decode: (bytes) => {
      checkSize(bytes, size * length);
      return split(bytes, size);
    },
    encode: (values) => concatBytes(...values),
    fromJson: (values) => {
      if (!Array.isArray(values) || values.length !== length)
        throw malformed(`a value is not a list of ${length} values`);
      return values.map((value) => type.fromJson(value));
    },
    root: (values) => merkleize(values.map((value) => type.root(value))),
  };
}

/**
 * Returns the type for a list of named values. Values of variable size are encoded at the end. In their place in the
 * list is the offset at which they begin.
 */
export function container<Fields extends Readonly<Record<string, SszType<unknown>>>>(
  fields: Fields,
): SszType<{ [Name in keyof Fields]: ValueOf<Fields[Name]> }> {
  type Value = { [Name in keyof Fields]: ValueOf<Fields[Name]> };
  const types = Object.entries(fields);
  const fixed = types.reduce((sum, [, { size = OFFSET_BYTES }]) => sum + size, 0);
  const make = (valueOf: (name: string, type: SszType<unknown>, i: number) => unknown) =>
    Object.fromEntries(types.map(([name, type], i) => [name, valueOf(name, type, i)])) as Value;
  const read = (value: Value, name: string): unknown => value[name];
  return {
    size: types.every(([, { size }]) => size !== undefined) ? fixed : undefined,
    decode: (bytes) => {
      if (bytes.length < fixed) throw malformed(`a value has ${bytes.length} bytes instead of at least ${fixed}`);
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      const starts: number[] = [];
      let position = 0;
      for (const [, { size }] of types) {
        starts.push(size === undefined ? view.getUint32(position, true) : position);
        position += size ?? OFFSET_BYTES;
      }
      const offsets = [...starts.filter((_, i) => types[i]?.[1].size === undefined), bytes.length];
      if (offsets[0] !== fixed || offsets.some((offset, i) => offset < (offsets[i - 1] ?? 0)))
        throw malformed("the offsets are not in order");
      let part = 0;
      return make((_, type, i) => {
        const start = starts[i] ?? 0;
        return type.decode(bytes.subarray(start, type.size === undefined ? offsets[++part] : start + type.size));
      });
    },
    encode: (value) => {
      const parts = types.map(([name, type]) => ({ type, bytes: type.encode(read(value, name)) }));
      const tail: Uint8Array[] = [];
      let end = fixed;
      const head = parts.map(({ type, bytes }) => {
        if (type.size !== undefined) return bytes;
        const offset = new Uint8Array(OFFSET_BYTES);
        new DataView(offset.buffer).setUint32(0, end, true);
        end += bytes.length;
        tail.push(bytes);
        return offset;
      });
      return concatBytes(...head, ...tail);
    },
    fromJson: (value) => {
      if (!isObject(value)) throw malformed("a value is not an object");
      return make((name, type) => type.fromJson(hasOwn(value, name) ? value[name] : undefined));
    },
    root: (value) => merkleize(types.map(([name, type]) => type.root(read(value, name)))),
  };
}

/**
 * Checks whether a tree contains a leaf at a generalized index (`is_valid_normalized_merkle_branch`). If the branch is
 * longer than the index requires, its extra nodes must be at the beginning and zero.
 * @param root the root of the tree
 */
export function isValidBranch(
  leaf: Uint8Array,
  branch: readonly Uint8Array[],
  index: number,
  root: Uint8Array,
): boolean {
  const extra = branch.length - Math.floor(Math.log2(index));
  if (extra < 0 || branch.slice(0, extra).some((node) => node.some((byte) => byte !== 0))) return false;
  let node = leaf;
  let position = index;
  for (const sibling of branch.slice(extra)) {
    node = position % 2 === 0 ? hashPair(node, sibling) : hashPair(sibling, node);
    position = Math.floor(position / 2);
  }
  return equalBytes(node, root);
}
