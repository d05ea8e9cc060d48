import type { KeyRecord } from "keyroot/identity";
import { isObject } from "keyroot/input";
import { encode, P } from "../../../test/support/data/curve41417.ts";
import { plainFile } from "../../../test/support/data/plainFile.ts";
import { sha256 } from "../../../test/support/samples.ts";
import { pointOf, recordOf, SampleFile, textOf } from "./sampleFile.ts";
import { plainText, toInput, type Vector } from "./vector.ts";

/** Files that verify a key, including unusual ones. */
export function goodFiles(): Vector[] {
  const three = new SampleFile(3);
  const [first, second] = [three.record(0), three.record(1)];
  const { text, values } = three;

  const one = new SampleFile(1);
  const large = new SampleFile(700);
  const largeFile = { values: [...large.values], sha256: sha256(large.text) };

  const spacedFile = ` \r\n${JSON.stringify(JSON.parse(text), null, "\t")}\n \n`;
  const reversedKeys: unknown = JSON.parse(text, (_, value: unknown) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).reverse()) : value,
  );
  const escapedFile = [three.root, first.userID, "lookup", "userID", "data"].reduce(
    (text, word) => text.replace(word, () => escaped(word)),
    text,
  );
  const escapedRecord = textOf(first).replace(first.userID, escaped).replaceAll("/", "\\/");
  const { x, y } = pointOf(0);

  return [
    ...[1, 2, 3, 5, 8].map((users) => {
      const { text, values } = new SampleFile(users);
      return good(`users-${users}`, "a file as we write it, asked about its last user", text, values, users - 1);
    }),
    { ...good("users-700", "the usual size of a file", large.text, large.values, 350), input: largeFile },
    good("file-without-header", "merkle has nodes only", withoutHeader(text), values),
    good("file-of-one-without-header", "the only node is the root", withoutHeader(one.text), one.values),
    good("file-without-root-key", "merkle has some of its header keys", three.withKey("root"), values),
    good("file-in-other-spacing", "any white space of JSON", spacedFile, values),
    good(
      "file-in-other-key-order",
      "the keys of all objects the other way round",
      JSON.stringify(reversedKeys),
      values,
    ),
    good("file-with-escapes", "keys and texts of the file, written as escapes", escapedFile, values),
    rebuilt("values-in-other-order", "another order of values is another tree, and as good", values.toReversed()),
    rebuilt(
      "records-in-other-field-order",
      "the fields of records in another order",
      three.records.map(({ userID, pubKey, keyID }) => JSON.stringify({ keyID, pubKey, userID })),
    ),
    rebuilt(
      "records-in-other-spacing",
      "white space in a record is hashed like all else",
      three.records.map((record) => `\r\n${JSON.stringify(record, null, "\t")} `),
    ),
    rebuilt("record-with-escapes", "a record with escapes is hashed as it stands", [escapedRecord]),
    rebuilt("key-shared", "two users may have one key", [textOf(first), textOf({ ...first, userID: second.userID })]),
    rebuilt("key-of-mixed-order", "a key outside of the subgroup of prime order is odd, but not forged", [
      textOf(recordOf(first.userID, encode({ x: P - x, y: P - y }))),
    ]),
    rebuilt("other-key-off-curve", "what another user's key is worth does not matter", [
      textOf(first),
      textOf(recordOf(second.userID, encode({ x, y: y + 1n }))),
    ]),
    rebuilt("other-keyid-wrong", "what another user's keyID says does not matter", [
      textOf(first),
      textOf({ ...second, keyID: first.keyID }),
    ]),
    withExpectedKey("expected-key", "the key that was handed out is the published one"),
  ];

  function withExpectedKey(name: string, about: string): Vector {
    const vector = good(name, about, text, values, 1);
    return { ...vector, question: { ...vector.question, expectedPublicKey: second.pubKey } };
  }
}

/** A vector of a file with this text and these values, with a query about the user at an index. */
function good(name: string, about: string, text: string, values: readonly string[], index = 0): Vector {
  const { userID, pubKey, keyID } = JSON.parse(values[index] ?? "") as KeyRecord;
  const verdict = { verified: { index, record: { userID, pubKey, keyID } } };
  return {
    name,
    about,
    question: { userID, root: plainFile(values).root },
    input: toInput(Buffer.from(text)),
    verdict,
  };
}

/** A vector of the file of these values, with a query about its first user. */
function rebuilt(name: string, about: string, values: readonly string[]): Vector {
  return good(name, about, plainText(values), values);
}

/** The text of a file without the header keys of `merkle`. */
function withoutHeader(text: string): string {
  return text.replace(/"root":"\w+","hashalgo":"sha256","leaves":\d+,"levels":\d+,/, "");
}

/** Escapes every character. */
function escaped(text: string): string {
  return Array.from(text, (c) => `\\u${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`).join("");
}
