import fc from "fast-check";

/** A way to change a text. */
export type Change = (text: string) => string;

/** Hashes, keys, ids, numbers, names. */
const WORD = /[\w+/=]+/g;

/** Replaces characters at any place with a few random characters, or with a part of `known`. */
export function mutation(known: string): fc.Arbitrary<Change> {
  return splice(fc.oneof(fc.string({ maxLength: 4 }), partOf(known, 400)));
}

/** Replaces up to 8 characters at any place with one of these texts. */
export function splice(texts: fc.Arbitrary<string>): fc.Arbitrary<Change> {
  return fc.record({ at: fc.nat(), cut: fc.nat(8), put: texts }).map(({ at, cut, put }) => {
    return (text) => {
      const start = at % (text.length + 1);
      return text.slice(0, start) + put + text.slice(start + cut);
    };
  });
}

export function partOf(text: string, maxLength: number): fc.Arbitrary<string> {
  return fc.tuple(fc.nat(text.length), fc.nat(maxLength)).map(([at, length]) => text.slice(at, at + length));
}

/** Replaces a word with one from `known`, usually of the same length: a hash with a hash, a user with a user. */
export function swap(known: string): fc.Arbitrary<Change> {
  const knownWords = [...new Set(known.match(WORD))];
  return fc.record({ at: fc.nat(), by: fc.nat(), any: fc.boolean() }).map(({ at, by, any }) => {
    return (text) => {
      const words = [...text.matchAll(WORD)];
      const word = words[at % Math.max(words.length, 1)];
      if (word === undefined) return text;
      const [old] = word;
      const fitting = knownWords.filter(({ length }) => any || length === old.length);
      const put = fitting[by % Math.max(fitting.length, 1)] ?? "";
      return text.slice(0, word.index) + put + text.slice(word.index + old.length);
    };
  });
}
