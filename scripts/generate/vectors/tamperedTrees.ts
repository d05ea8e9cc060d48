import { sha256 } from "../../../test/support/samples.ts";
import { rebuilt, rejected } from "./rejected.ts";
import { SampleFile, sampleRecord, textOf } from "./sampleFile.ts";
import { plainText, type Vector } from "./vector.ts";

/** Files with wrong values, a wrong tree or a wrong root. */
export function tamperedTrees(): Vector[] {
  // Three users: the last leaf is paired with itself.
  const file = new SampleFile(3);
  const [two, six] = [new SampleFile(2), new SampleFile(6)];
  const { root, text, values } = file;
  const question = file.question();
  const [{ userID }, second, third] = [file.record(0), file.record(1), file.record(2)];
  const [leaf = "", otherLeaf = "", lone = "", pair = "", single = ""] = file.hashes();

  const attacker = sampleRecord(99);
  const forgedRecord = textOf({ ...attacker, userID });
  const forgedValues = [forgedRecord, ...values.slice(1)];
  const strayLeaf = { type: "leaf", level: 0, left: "data", right: "data", parent: pair };

  return [
    ...rejected("file: TREE_EMPTY", question, [
      [
        "no-values",
        "a tree of nothing",
        JSON.stringify({ merkle: { root, hashalgo: "sha256", leaves: 0, levels: 0 }, values: [], lookup: {} }),
      ],
    ]),
    ...rejected("file: VALUE_LOOKS_LIKE_NODE", question, [
      [
        "values-are-nodes",
        "pairs of leaves for values, which leave the root as it is",
        rebuilt([leaf + otherLeaf, lone + lone], userID),
      ],
      ["value-is-node", "a pair of leaves beside the records", rebuilt([...values, leaf + otherLeaf], userID)],
      ["value-is-digits", "128 decimal digits, a number to JSON", rebuilt([...values, "1".repeat(128)], userID)],
    ]),
    ...rejected("file: DUPLICATE_VALUE", question, [
      [
        "last-value-twice",
        "three values and their last once more, which leaves the root as it is (CVE-2012-2459)",
        rebuilt([...values, ...values.slice(2)], userID),
      ],
      [
        "last-pair-twice",
        "six values and their last two once more, which leaves the root as it is (CVE-2012-2459)",
        rebuilt([...six.values, ...six.values.slice(4)], six.record(0).userID),
      ],
      ["first-value-twice", "a value once more at the end", rebuilt([...values, ...values.slice(0, 1)], userID)],
      ["values-identical", "one value twice", rebuilt([...values.slice(0, 1), ...values.slice(0, 1)], userID)],
    ]),
    ...rejected("file: DUPLICATE_USER", question, [
      ["two-records", "two records of one user, with two keys", rebuilt([...values, forgedRecord], userID)],
      [
        "two-records-other-user",
        "two records of another user",
        rebuilt([...values, textOf({ ...attacker, userID: second.userID })], userID),
      ],
      ["two-spellings", "a user's record in two spellings", rebuilt([...values, `${String(values[0])} `], userID)],
    ]),
    ...rejected("tree: ROOT_MISMATCH", question, [
      ["other-root", "a good file under another root", { content: text, question: { userID, root: two.root } }],
      ["other-file", "another good file", two.text],
      ["record-swapped", "the user's record has the attacker's key", file.withValues(forgedValues)],
      ["record-swapped-rebuilt", "the same, with the whole file built anew around it", plainText(forgedValues)],
      [
        "record-swapped-leaf-added",
        "the same, with a leaf for it under the true root",
        file
          .withKey(sha256(forgedRecord), { ...strayLeaf, parent: root })
          .replace(JSON.stringify(values[0]), JSON.stringify(forgedRecord)),
      ],
      [
        "other-record-swapped",
        "another user's record has the attacker's key",
        file.withValues([...values.slice(0, 2), textOf({ ...attacker, userID: third.userID })]),
      ],
      [
        "record-respelled",
        "a space behind the user's record",
        file.withValues([`${String(values[0])} `, ...values.slice(1)]),
      ],
      ["values-reversed", "the values in another order", file.withValues(values.toReversed())],
      ["value-added", "a user is added", file.withValues([...values, textOf(attacker)])],
      ["value-left-out", "another user is left out", file.withValues(values.slice(0, 2))],
    ]),
    ...rejected("tree: TREE_MISMATCH", question, [
      ["root-other", "merkle.root is another hash", file.withKey("root", pair)],
      ["root-number", "merkle.root is a number", file.withKey("root", 0)],
      ["root-0x", "merkle.root with 0x", file.withKey("root", `0x${root}`)],
      ["root-array", "merkle.root in an array", file.withKey("root", [root])],
      ["leaves-too-many", "leaves counts the lone one twice", file.withKey("leaves", 4)],
      ["leaves-too-few", "leaves is too low", file.withKey("leaves", 2)],
      ["leaves-string", "leaves is a text", file.withKey("leaves", "3")],
      ["levels-too-few", "levels does not count the leaves", file.withKey("levels", 2)],
      ["levels-string", "levels is a text", file.withKey("levels", "3")],
      ["node-missing-leaf", "the user's leaf is missing", file.withKey(leaf)],
      ["node-missing-other-leaf", "another user's leaf is missing", file.withKey(lone)],
      ["node-missing-sibling", "the node beside the user's parent is missing", file.withKey(single)],
      ["node-missing-root", "the root's node is missing", file.withKey(root)],
      [
        "node-missing-all",
        "all nodes are missing",
        file.withPart("merkle", { root, hashalgo: "sha256", leaves: 3, levels: 3 }),
      ],
      ["node-extra-leaf", "a leaf of no value", file.withKey(sha256("stray"), strayLeaf)],
      ["node-extra-forged", "a leaf of a forged record", file.withKey(sha256(forgedRecord), strayLeaf)],
      [
        "node-extra-inner",
        "a node that no other has for a child",
        file.withKey(sha256(leaf + leaf), { type: "node", level: 1, left: leaf, right: leaf, parent: root }),
      ],
      ["node-misnamed", "a leaf under another hash", file.edited(`"${leaf}":{`, `"${sha256("stray")}":{`)],
      ["node-text", "a text for a node", file.withKey(leaf, "data")],
      ["node-array", "an array for a node", file.withKey(leaf, ["leaf", 0, "data", "data", pair])],
      ["node-empty", "a node without fields", file.withKey(leaf, {})],
      ["type-leaf-as-node", "a leaf's type is node", file.withNode(leaf, { type: "node" })],
      ["type-leaf-as-root", "a leaf's type is root", file.withNode(leaf, { type: "root" })],
      ["type-node-as-leaf", "a node's type is leaf", file.withNode(pair, { type: "leaf" })],
      ["type-root-as-node", "the root's type is node", file.withNode(root, { type: "node" })],
      ["type-upper-case", "a leaf's type is Leaf", file.withNode(leaf, { type: "Leaf" })],
      ["type-missing", "a leaf without a type", file.withNode(leaf, { type: undefined })],
      ["level-leaf-1", "a leaf at level 1", file.withNode(leaf, { level: 1 })],
      ["level-node-0", "a node at level 0", file.withNode(pair, { level: 0 })],
      ["level-root-0", "the root at level 0", file.withNode(root, { level: 0 })],
      ["level-string", "a level that is a text", file.withNode(leaf, { level: "0" })],
      ["level-missing", "a leaf without a level", file.withNode(leaf, { level: undefined })],
      ["children-swapped", "a node's children are exchanged", file.withNode(pair, { left: otherLeaf, right: leaf })],
      ["left-other", "a node's left child is another leaf", file.withNode(pair, { left: lone })],
      ["left-of-leaf", "a leaf has a child", file.withNode(leaf, { left: otherLeaf })],
      ["left-lone-surrogate", "half a surrogate pair for data", file.edited('"left":"data"', '"left":"\\ud800"')],
      ["right-missing", "the lone leaf's parent has one child", file.withNode(single, { right: undefined })],
      ["right-empty", "the lone leaf's parent has an empty child", file.withNode(single, { right: "" })],
      ["right-data", "the lone leaf's parent has data for a child", file.withNode(single, { right: "data" })],
      ["parent-other", "a leaf's parent is the other node", file.withNode(leaf, { parent: single })],
      ["parent-skipped", "a leaf's parent is the root", file.withNode(leaf, { parent: root })],
      ["parent-unknown", "a leaf's parent is not in the file", file.withNode(leaf, { parent: sha256("stray") })],
      ["parent-word", "a leaf's parent is the word root", file.withNode(leaf, { parent: "root" })],
      ["parent-itself", "a leaf is its own parent", file.withNode(leaf, { parent: leaf })],
      ["parent-cycle", "a node's parent is its child", file.withNode(pair, { parent: leaf })],
      ["parent-of-root", "the root is its own parent", file.withNode(root, { parent: root })],
      ["parent-missing", "a leaf without a parent", file.withNode(leaf, { parent: undefined })],
    ]),
  ];
}
