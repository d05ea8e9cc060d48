import { sampleUserID, sha256 } from "../../../test/support/samples.ts";
import { rebuilt, rejected } from "./rejected.ts";
import { SampleFile } from "./sampleFile.ts";
import type { Vector } from "./vector.ts";

/** Files, and records in files, that are not UTF-8, not JSON, or JSON with tokens that the format does not allow. */
export function tamperedBytes(): Vector[] {
  const one = new SampleFile(1);
  const { text, root } = one;
  const { userID, keyID } = one.record(0);
  const question = one.question();

  const edited = (from: string, to: string) => one.edited(from, to);
  const index = (token: string) => one.edited(`"${userID}":0`, `"${userID}":${token}`);
  const bytes = (...parts: (string | readonly number[])[]) =>
    Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Uint8Array.from(part))));
  const inText = (...inserted: number[]) => {
    const [head = "", tail = ""] = text.split("data", 2);
    return bytes(`${head}da`, inserted, "ta", tail, text.slice(`${head}data${tail}`.length));
  };

  const [record = ""] = one.values;
  const value = (text: string) => rebuilt([text], userID);
  const recordWith = (from: string, to: string) => value(record.replace(from, () => to));

  return [
    ...rejected("file: FILE_NOT_UTF8", question, [
      ["not-utf8", "the byte 0xff in a text", inText(0xff)],
      ["utf8-continuation", "a continuation byte without a beginning", inText(0x80)],
      ["utf8-overlong", "NUL in two bytes", inText(0xc0, 0x80)],
      ["utf8-surrogate", "half a surrogate pair, encoded as if it were a character", inText(0xed, 0xa0, 0x80)],
      ["utf8-surrogate-pair", "both halves of a pair, one by one", inText(0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80)],
      ["utf8-too-large", "a character beyond U+10FFFF", inText(0xf4, 0x90, 0x80, 0x80)],
      ["utf8-cut", "the first byte of two, behind the end", bytes(text, [0xc3])],
      ["utf16", "UTF-16 with its byte-order mark", bytes([0xff, 0xfe], [...Buffer.from(text, "utf16le")])],
    ]),
    ...rejected("file: JSON_INVALID", question, [
      ["empty", "no bytes", ""],
      ["white-space-only", "white space", " \n"],
      ["truncated-by-one", "the last brace is missing", text.slice(0, -1)],
      ["truncated-half-way", "cut in the middle", text.slice(0, text.length / 2)],
      ["trailing-brace", "a brace too many", `${text}}`],
      ["trailing-comma", "a comma behind the end", `${text},`],
      ["trailing-number", "a number behind the end", `${text} 0`],
      ["two-files", "the file twice, end to end", text + text],
      ["comma-before-brace", "a comma behind the last member", index("0,")],
      ["comma-before-bracket", "a comma behind the last value", edited('],"lookup"', ',],"lookup"')],
      ["comma-missing", "two members without a comma", edited(',"lookup"', '"lookup"')],
      ["colon-missing", "a key without a colon", edited('"lookup":', '"lookup"')],
      ["brackets-crossed", "an array that ends as an object", edited('],"lookup"', '},"lookup"')],
      ["leading-zero", "00 for 0", index("00")],
      ["escape-unknown", "an escape that JSON does not have", edited("data", "\\data")],
      ["escape-cut", "an escape of three hex digits", edited('"data"', '"\\u064"')],
      ["nul-in-text", "NUL in a text, not escaped", inText(0)],
      ["line-feed-in-text", "a line feed in a text, not escaped", inText(0x0a)],
      ["record-empty", "a value without a character", value("")],
      ["record-truncated", "a record without its brace", value(record.slice(0, -1))],
      ["record-trailing-brace", "a record with a brace too many", value(`${record}}`)],
      ["record-and-record", "two records in one value", value(record + record)],
    ]),
    ...rejected("file: JSON_FORBIDDEN_TOKEN", question, [
      ["byte-order-mark", "UTF-8 with a byte-order mark", bytes([0xef, 0xbb, 0xbf], text)],
      ["trailing-nul", "NUL behind the end", `${text}\0`],
      ["trailing-letter", "a letter behind the end", `${text}x`],
      ["nul-as-space", "NUL between two members", edited(',"lookup"', ',\0"lookup"')],
      ["form-feed-as-space", "white space that JSON does not have", edited(',"lookup"', ',\f"lookup"')],
      ["no-break-space", "white space that JSON does not have", edited(',"lookup"', ',\u00a0"lookup"')],
      ["line-separator", "white space that JSON does not have", edited(',"lookup"', ',\u2028"lookup"')],
      ["comment", "a comment", edited(',"lookup"', ',/**/"lookup"')],
      ["single-quotes", "a key in single quotes", edited('"lookup"', "'lookup'")],
      ["no-quotes", "a key without quotes", edited('"lookup"', "lookup")],
      ["lookup-null", "an index that is null", index("null")],
      ["lookup-true", "an index that is true", index("true")],
      ["lookup-nan", "an index that is NaN", index("NaN")],
      ["lookup-negative", "an index below zero", index("-1")],
      ["lookup-minus-zero", "-0 for 0", index("-0")],
      ["lookup-plus-zero", "+0 for 0", index("+0")],
      ["lookup-fraction", "an index of 0.5", index("0.5")],
      ["lookup-zero-fraction", "0.0 for 0", index("0.0")],
      ["lookup-exponent", "an index of 1e3", index("1e3")],
      ["lookup-zero-exponent", "0E0 for 0", index("0E0")],
      ["lookup-hex", "0x0 for 0", index("0x0")],
      ["lookup-full-width-digit", "U+FF10, which some take for a digit", index("\uff10")],
      ["record-null", "null for a record", value("null")],
      ["record-field-null", "a record whose keyID is null", recordWith(`"${keyID}"`, "null")],
      ["record-byte-order-mark", "a record with a byte-order mark", value(`\ufeff${record}`)],
      ["record-trailing-nul", "a record with NUL behind its end", value(`${record}\0`)],
      ["record-lone-surrogate", "half a surrogate pair before a record", value(`\ud800${record}`)],
    ]),
    ...rejected("file: JSON_TOO_DEEP", question, [
      ["deep-by-one", "an array where a node has a text", edited('"left":"data"', '"left":["data"]')],
      ["deep-arrays", "5,000 arrays inside each other", "[".repeat(5000) + "]".repeat(5000)],
      ["deep-objects", "1,000 objects inside each other", `${'{"merkle":'.repeat(1000)}0${"}".repeat(1000)}`],
      ["record-too-deep", "a record whose keyID is in an array", recordWith(`"${keyID}"`, `["${keyID}"]`)],
    ]),
    ...rejected("file: JSON_DUPLICATE_KEY", question, [
      ["twice-values", "values twice: the last is good", edited('"values":', '"values":[],"values":')],
      ["twice-lookup", "lookup twice: the first is good", `${text.slice(0, -1)},"lookup":{}}`],
      ["twice-lookup-same", "lookup twice, the same", `${text.slice(0, -1)},"lookup":{"${userID}":0}}`],
      ["twice-by-escape", "lookup twice, once with an escape", edited('"lookup":', '"l\\u006fokup":{},"lookup":')],
      ["twice-proto", "__proto__ twice", `{"__proto__":{},"__proto__":{},${text.slice(1)}`],
      ["twice-in-merkle", "merkle.root twice: the last is good", edited('"root":', `"root":"${sha256("x")}","root":`)],
      ["twice-node", "a node twice: the last is good", edited(`"${root}":{`, `"${root}":{},"${root}":{`)],
      ["twice-in-node", "a node's level twice, the same", edited('"level":0', '"level":0,"level":0')],
      ["twice-in-lookup", "a user twice: the last is good", index(`1,"${userID}":0`)],
      ["twice-in-lookup-same", "a user twice, with the same index", index(`0,"${userID}":0`)],
      ["record-twice", "keyID twice: the last is good", recordWith('"keyID"', '"keyID":"","keyID"')],
      ["record-twice-same", "userID twice, the same", recordWith("{", `{"userID":"${userID}",`)],
      [
        "record-twice-by-escape",
        "userID twice, once with an escape",
        recordWith("{", `{"user\\u0049D":"${sampleUserID(9)}",`),
      ],
    ]),
  ];
}
