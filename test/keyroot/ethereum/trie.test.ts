import { createMerkleProof, createMPT, verifyMerkleProof } from "@ethereumjs/mpt";
import { RLP } from "@ethereumjs/rlp";
import { expect } from "chai";
import { getBytes, hexlify, keccak256 } from "ethers";
import fc from "fast-check";
import { readTrie } from "../../../packages/keyroot/src/ethereum/trie.ts";
import { testAll } from "../../support/testSize.ts";

type Item = Uint8Array | Item[];

/** Result of the search for a key in a proof: the value in hex, "no value" or "invalid". */
type Outcome = string;

/**
 * Keys of tries. Many keys share prefixes, and some are prefixes of others, so that the tries have extensions, and
 * branches with values.
 */
const NIBBLES = fc.array(fc.constantFrom("0", "1"), { maxLength: 6 }).map((nibbles) => nibbles.join(""));
const KEY = NIBBLES.map((nibbles) => `0x${nibbles.length % 2 === 0 ? nibbles : `0${nibbles}`}`);
/** Values of tries. Short values make nodes of fewer than 32 bytes, which their parents contain. */
const VALUE = fc
  .oneof(fc.uint8Array({ minLength: 1, maxLength: 3 }), fc.uint8Array({ minLength: 30, maxLength: 60 }))
  .map((bytes) => hexlify(bytes));
type Entries = ReadonlyMap<string, string>;

const ENTRIES: fc.Arbitrary<Entries> = fc
  .array(fc.tuple(KEY, VALUE), { minLength: 1, maxLength: 12 })
  .map((entries) => new Map(entries));

/** A change of the nodes in a proof. `known` contains all nodes of the trie. */
type Change = (nodes: readonly Uint8Array[], known: readonly Uint8Array[]) => Uint8Array[];

const PLACE = fc.nat(20);
const JUNK = fc.uint8Array({ maxLength: 40 });
const CHANGE: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(PLACE, fc.nat(), fc.integer({ min: 1, max: 255 })).map(([place, offset, mask]): Change => {
    return (nodes) =>
      changeAt(nodes, place, (node) => [node.map((byte, i) => (i === offset % node.length ? byte ^ mask : byte))]);
  }),
  fc.tuple(PLACE, fc.nat(40)).map(
    ([place, length]): Change =>
      (nodes) =>
        changeAt(nodes, place, (node) => [node.slice(0, length)]),
  ),
  fc.tuple(PLACE, JUNK).map(
    ([place, junk]): Change =>
      (nodes) =>
        changeAt(nodes, place, (node) => [Uint8Array.of(...node, ...junk)]),
  ),
  fc.tuple(PLACE, JUNK).map(
    ([place, junk]): Change =>
      (nodes) =>
        changeAt(nodes, place, (node) => [node, junk]),
  ),
  PLACE.map(
    (place): Change =>
      (nodes) =>
        changeAt(nodes, place, () => []),
  ),
  PLACE.map(
    (place): Change =>
      (nodes) =>
        changeAt(nodes, place, (node) => [node, node]),
  ),
  fc.tuple(PLACE, PLACE).map(([place, which]): Change => (nodes, known) => {
    return changeAt(nodes, place, (node) => [node, ...known.slice(which % known.length).slice(0, 1)]);
  }),
  fc.constant<Change>(([first, ...others]) => (first === undefined ? [] : [first, ...others.reverse()])),
  fc.constant<Change>((nodes) => nodes.toReversed()),
);

function changeAt(
  nodes: readonly Uint8Array[],
  place: number,
  change: (node: Uint8Array) => Uint8Array[],
): Uint8Array[] {
  return nodes.flatMap((node, i) => (i === place % nodes.length ? change(node) : [node]));
}

/** An item of an arbitrary node: an RLP item, or the hash of another node in the proof. */
type Part = Uint8Array | Part[] | { nodeOf: Part } | { bytesOf: Uint8Array };

/** A path with its flag (Yellow Paper, appendix C). Some flags occur in no trie. */
const PATH = fc
  .tuple(NIBBLES, fc.oneof({ weight: 29, arbitrary: fc.constantFrom(0, 2) }, fc.constantFrom(4, 14)))
  .map(([nibbles, flag]) => {
    const prefix = nibbles.length % 2 === 0 ? `${flag.toString(16)}0` : (flag + 1).toString(16);
    return getBytes(`0x${prefix}${nibbles}`);
  });
const EMPTY = new Uint8Array();
const ANY: fc.Arbitrary<Part> = fc.oneof(JUNK, fc.array(JUNK, { maxLength: 3 }), fc.constant(EMPTY));

function nodeOf(depth: number): fc.Arbitrary<Part> {
  const value: fc.Arbitrary<Part> = fc.oneof({ weight: 9, arbitrary: VALUE.map((value) => getBytes(value)) }, ANY);
  const leaf: fc.Arbitrary<Part> = fc.tuple(fc.oneof({ weight: 19, arbitrary: PATH }, ANY), value);
  const malformed: fc.Arbitrary<Part> = fc.oneof(JUNK, fc.array(fc.oneof(PATH, ANY), { maxLength: 18 }));
  if (depth === 0) return fc.oneof({ weight: 19, arbitrary: leaf }, malformed);
  const child: fc.Arbitrary<Part> = fc.oneof(
    { weight: 12, arbitrary: nodeOf(depth - 1).map((node): Part => ({ nodeOf: node })) },
    { weight: 6, arbitrary: nodeOf(depth - 1) },
    { weight: 1, arbitrary: JUNK.map((bytes): Part => ({ bytesOf: bytes })) },
    { weight: 1, arbitrary: ANY },
    { weight: 2, arbitrary: fc.constant(EMPTY) },
  );
  const branch = fc
    .tuple(child, child, fc.oneof(value, fc.constant(EMPTY)))
    .map(([zero, one, value]): Part => [zero, one, ...new Array<Uint8Array>(14).fill(EMPTY), value]);
  const extension: fc.Arbitrary<Part> = fc.tuple(PATH, child);
  return fc.oneof(
    { weight: 9, arbitrary: branch },
    { weight: 5, arbitrary: extension },
    { weight: 4, arbitrary: leaf },
    { weight: 1, arbitrary: malformed },
  );
}

const NODE = nodeOf(4);

/** Encodes a node in RLP, and adds it to `nodes` after the nodes below it. */
function addNode(node: Part, nodes: Uint8Array[]): Uint8Array {
  const encoded = RLP.encode(toItem(node, nodes));
  nodes.push(encoded);
  return encoded;
}

function toItem(part: Part, nodes: Uint8Array[]): Item {
  if (part instanceof Uint8Array) return part;
  if (Array.isArray(part)) return part.map((item) => toItem(item, nodes));
  if ("nodeOf" in part) return getBytes(keccak256(addNode(part.nodeOf, nodes)));
  nodes.push(part.bytesOf);
  return getBytes(keccak256(part.bytesOf));
}

/** Checks whether an RLP node, or a node inside it, has a path with an unknown flag. */
function hasUnknownFlag(encoded: Uint8Array): boolean {
  try {
    return containsUnknownFlag(RLP.decode(encoded));
  } catch {
    return false;
  }
}

function containsUnknownFlag(item: Item): boolean {
  if (!Array.isArray(item)) return false;
  const [path] = item;
  const isKnown = path instanceof Uint8Array && /^0x(?:[02]0|[13])/.test(hexlify(path));
  return (item.length === 2 && !isKnown) || item.some(containsUnknownFlag);
}

describe("readTrie", () => {
  it("agrees with @ethereumjs/mpt on proofs of random tries", async () => {
    const test = async (entries: Entries, otherKey: string) => {
      const trie = await trieOf(entries);
      for (const key of [...entries.keys(), otherKey]) {
        const outcome = await readByBoth(trie.root, key, await trie.prove(key));
        expect(outcome).to.equal(entries.get(key) ?? "no value");
      }
    };
    await fc.assert(fc.asyncProperty(ENTRIES, KEY, test), { numRuns: 500 });
  });

  it("agrees with @ethereumjs/mpt on proofs with changed nodes", async () => {
    const outcomes: Outcome[] = [];
    const test = async (entries: Entries, otherKey: string, changes: Change[]) => {
      const trie = await trieOf(entries);
      for (const key of [...entries.keys(), otherKey]) {
        const nodes = changes.reduce((nodes, change) => change(nodes, trie.nodes), await trie.prove(key));
        const outcome = await readByBoth(trie.root, key, nodes);
        expect(outcome).to.be.oneOf([entries.get(key) ?? "no value", "invalid"]);
        outcomes.push(outcome);
      }
    };
    const changes = fc.array(CHANGE, { minLength: 1, maxLength: 3 });
    await fc.assert(fc.asyncProperty(ENTRIES, KEY, changes, test), { numRuns: testAll ? 2_000 : 1_000 });
    expectEveryKindOf(outcomes);
  });

  it("agrees with @ethereumjs/mpt on proofs of another trie", async () => {
    const test = async (entries: Entries, others: Entries, key: string) => {
      const [trie, other] = [await trieOf(entries), await trieOf(others)];
      const nodes = await trie.prove(key);
      await readByBoth(other.root, key, nodes);
      await readByBoth(other.root, key, [...(await other.prove(key)), ...nodes]);
    };
    await fc.assert(fc.asyncProperty(ENTRIES, ENTRIES, KEY, test), { numRuns: 500 });
  });

  it("agrees with @ethereumjs/mpt on arbitrary nodes with known path flags", async () => {
    const outcomes: Outcome[] = [];
    let rejected = 0;
    const test = async (node: Part, keys: string[], reverse: boolean) => {
      const nodes: Uint8Array[] = [];
      const root = keccak256(addNode(node, nodes));
      const [top, ...below] = nodes.toReversed() as [Uint8Array, ...Uint8Array[]];
      const proof = [top, ...(reverse ? below.toReversed() : below)];
      for (const key of keys) {
        const outcome = read(root, key, proof);
        outcomes.push(outcome);
        const expected = await readByOracle(root, key, proof);
        if (outcome === expected) continue;
        expect({ outcome, flags: proof.some(hasUnknownFlag) }).to.deep.equal({ outcome: "invalid", flags: true });
        rejected++;
      }
    };
    const keys = fc.array(KEY, { minLength: 3, maxLength: 3 });
    await fc.assert(fc.asyncProperty(NODE, keys, fc.boolean(), test), { numRuns: testAll ? 5_000 : 2_000 });
    expectEveryKindOf(outcomes);
    expect(rejected).to.be.above(0);
  });
});

/** Checks that values, keys without a value and invalid proofs each occurred at least 100 times. */
function expectEveryKindOf(outcomes: readonly Outcome[]): void {
  const others = ["no value", "invalid"];
  const counts = others.map((kind) => outcomes.filter((outcome) => outcome === kind).length);
  counts.push(outcomes.filter((outcome) => !others.includes(outcome)).length);
  expect(Math.min(...counts), `no value, invalid, value: ${counts.join(", ")}`).to.be.at.least(100);
}

/** Reads a key with both readers, and checks that they agree. */
async function readByBoth(root: string, key: string, nodes: readonly Uint8Array[]): Promise<Outcome> {
  const outcome = read(root, key, nodes);
  expect(outcome).to.equal(await readByOracle(root, key, nodes));
  return outcome;
}

function read(root: string, key: string, nodes: readonly Uint8Array[]): Outcome {
  let value: Uint8Array | undefined;
  try {
    value = readTrie(root, key.slice(2), nodes);
  } catch {
    return "invalid";
  }
  return value === undefined ? "no value" : hexlify(value);
}

async function readByOracle(root: string, key: string, nodes: readonly Uint8Array[]): Promise<Outcome> {
  let value: unknown;
  try {
    value = await verifyMerkleProof(getBytes(key), [...nodes], { root: getBytes(root) });
  } catch {
    return "invalid";
  }
  // The other library can return a list, but a value must be bytes.
  if (Array.isArray(value)) return "invalid";
  return value === null ? "no value" : hexlify(value as Uint8Array);
}

/** Creates a trie of these entries. It uses the keys themselves instead of their hashes. */
async function trieOf(entries: Entries) {
  const trie = await createMPT();
  for (const [key, value] of entries) await trie.put(getBytes(key), getBytes(value));
  const prove = (key: string) => createMerkleProof(trie, getBytes(key));
  const nodes = new Map<string, Uint8Array>();
  for (const key of entries.keys()) for (const node of await prove(key)) nodes.set(hexlify(node), node);
  return { root: hexlify(trie.root()), nodes: [...nodes.values()], prove };
}
