#!/usr/bin/env node
/**
 * A second implementation of short proofs (docs/formats.md, "Leaf chunk" and "Root proof"), to check the test vectors:
 *
 *     node scripts/secondVerifier/shortProofs.mjs test/vectors/short-proofs/short-proofs.json
 *
 * The script prints `agree` or `DISAGREE` for each vector, and exits with 1 if a result disagrees. The script shares no
 * code with the library or with the script that made the vectors. It computes trees recursively from the top.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const DIGITS = "13456789abcdefghijkmnopqrstuwxyz";
const sha256 = (...parts) => createHash("sha256").update(Buffer.concat(parts)).digest();
const pairOfHex = (left, right) => sha256(Buffer.from(left.toString("hex") + right.toString("hex")));
const pairOfBytes = (left, right) => sha256(Buffer.of(1), left, right);

class Refused extends Error {}
const refuse = (code) => {
  throw new Refused(code);
};

function chunkNumber({ userID, leafCount }) {
  const bits = Math.max(0, Math.ceil(Math.log2(leafCount / 32)));
  const id = [...userID].map((digit) => DIGITS.indexOf(digit).toString(2).padStart(5, "0")).join("");
  return { number: Number.parseInt(id.slice(0, bits) || "0", 2) };
}

function leafChunk({ root, leafCount, leaf }, { base64 }) {
  const bytes = Buffer.from(base64, "base64");
  if (bytes.length < 40 || bytes.length > 65_536 || bytes.length % 32 !== 8) refuse("PROOF_SHAPE");
  const [first, count] = [bytes.readUInt32BE(0), bytes.readUInt32BE(4)];
  const hashes = [];
  for (let at = 8; at < bytes.length; at += 32) hashes.push(bytes.subarray(at, at + 32));
  if (count === 0 || count > hashes.length || first + count > leafCount) refuse("PROOF_SHAPE");
  const given = new Map();
  for (let i = 0; i < count; i++) given.set(`0 ${first + i}`, hashes[i]);
  // Compute the positions that the siblings must have, level by level.
  let [used, start, end, size] = [count, first, first + count, leafCount];
  for (let level = 0; size > 1; level++) {
    if (start % 2 === 1) given.set(`${level} ${start - 1}`, hashes[used++]);
    if (end % 2 === 1 && end < size) given.set(`${level} ${end}`, hashes[used++]);
    [start, end, size] = [start >> 1, (end + 1) >> 1, (size + 1) >> 1];
  }
  if (used !== hashes.length) refuse("PROOF_SHAPE");
  const sizeAt = (level) => (level === 0 ? leafCount : (sizeAt(level - 1) + 1) >> 1);
  const nodeAt = (level, position) => {
    const node = given.get(`${level} ${position}`);
    if (node !== undefined) return node;
    const left = nodeAt(level - 1, 2 * position);
    return pairOfHex(left, 2 * position + 1 < sizeAt(level - 1) ? nodeAt(level - 1, 2 * position + 1) : left);
  };
  let height = 0;
  while (sizeAt(height) > 1) height++;
  if (nodeAt(height, 0).toString("hex") !== root) refuse("ROOT_MISMATCH");
  const index = hashes.slice(0, count).findIndex((hash) => hash.toString("hex") === leaf);
  return index === -1 ? refuse("USER_NOT_IN_FILE") : { index: first + index };
}

function rootProof({ root, tree }, { subtrees, proof }) {
  if (subtrees.length > 4096 || proof.length > 4096) refuse("FILE_TOO_LARGE");
  const tops = readHashes(subtrees);
  const heights = [...tree.size.toString(2)].flatMap((bit, i, bits) => (bit === "1" ? [bits.length - 1 - i] : []));
  const hashOver = ([first, ...others]) => (others.length === 0 ? first : pairOfBytes(first, hashOver(others)));
  if (tops.length !== heights.length || hashOver(tops).toString("hex") !== tree.hash) refuse("STATEMENT_TREE_MISMATCH");
  const [, index, leaf, ofRoot, records, users, rest] =
    /^(0|[1-9]\d{0,15}) (([0-9a-f]{64}) ([1-9]\d{0,15}) (0|[1-9]\d{0,15}))\n([^]*)$/.exec(proof) ??
    refuse("STATEMENT_TREE_MISMATCH");
  if (ofRoot !== root || Number(users) > Number(records)) refuse("STATEMENT_TREE_MISMATCH");
  let start = 0;
  const subtree = heights.findIndex((height) => Number(index) < (start += 2 ** height));
  if (subtree === -1) refuse("STATEMENT_TREE_MISMATCH");
  const siblings = readHashes(rest).slice(0, heights[subtree]);
  if (siblings.length !== heights[subtree]) refuse("STATEMENT_TREE_MISMATCH");
  const top = siblings.reduce(
    (hash, sibling, level) =>
      Math.floor(Number(index) / 2 ** level) % 2 === 0 ? pairOfBytes(hash, sibling) : pairOfBytes(sibling, hash),
    sha256(Buffer.of(0), Buffer.from(leaf)),
  );
  if (!top.equals(tops[subtree])) refuse("STATEMENT_TREE_MISMATCH");
  return { recordCount: Number(records), userCount: Number(users) };
}

function readHashes(text) {
  if (text !== "" && !text.endsWith("\n")) refuse("STATEMENT_TREE_MISMATCH");
  const lines = text.split("\n").slice(0, -1);
  if (!lines.every((line) => /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/.test(line))) refuse("STATEMENT_TREE_MISMATCH");
  return lines.map((line) => Buffer.from(line, "base64"));
}

const CHECKS = { "chunk-number": chunkNumber, "leaf-chunk": leafChunk, "root-proof": rootProof };

function verdictOf({ check, question, input }) {
  try {
    return CHECKS[check](question, input);
  } catch (error) {
    if (error instanceof Refused) return { code: error.message };
    throw error;
  }
}

let checked = 0;
for (const path of process.argv.slice(2)) {
  const { format, kind, vectors } = JSON.parse(readFileSync(path, "utf8"));
  if (format !== "keyroot-vectors-v1" || kind !== "short-proof") throw new Error(`${path}: unknown format or kind.`);
  for (const { verdict, ...vector } of vectors) {
    const agrees = JSON.stringify(verdictOf(vector)) === JSON.stringify(verdict);
    if (!agrees) process.exitCode = 1;
    process.stdout.write(`${agrees ? "agree" : "DISAGREE"} ${vector.name}\n`);
    checked++;
  }
}
if (checked === 0) {
  process.stderr.write("Give at least one file with vectors.\n");
  process.exitCode = 1;
}
