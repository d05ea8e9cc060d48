import { stripVTControlCharacters } from "node:util";

/** Indentation and a label, which two spaces separate from the text. */
const LABEL = /^ *(?:\S+(?: \S+)* {2,})?/;

/**
 * Breaks a line between words to fit a terminal, and indents the following lines to the text after the label. A word
 * that is longer than a line, such as a hash, is not broken, so that it can be copied.
 * @param line text that may contain control sequences, which have no width
 */
export function wrapLine(line: string, columns: number): string {
  const widthOf = (text: string) => stripVTControlCharacters(text).length;
  if (widthOf(line) <= columns) return line;
  const [label = ""] = LABEL.exec(stripVTControlCharacters(line)) ?? [];
  const indentation = label.length <= columns / 2 ? label.length : label.search(/\S/) + 2;
  const lines: string[] = [];
  let current = "";
  for (const [word] of line.matchAll(/ *\S+/g)) {
    if (current === "" || widthOf(current + word) <= columns) current += word;
    else {
      lines.push(current);
      current = " ".repeat(indentation) + word.trimStart();
    }
  }
  return [...lines, current].join("\n");
}
