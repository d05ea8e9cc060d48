/** A block of code of a Markdown page. */
export interface CodeBlock {
  /** The word after the opening fence, such as `js` or `sh`. */
  language: string;
  text: string;
}

/** The code blocks of a page, by the headings of level 2 above them, in their order. */
export function codeBlocksOf(page: string): Map<string, CodeBlock[]> {
  const sections = page.split(/^## /m).slice(1);
  return new Map(
    sections.map((section) => {
      const [heading = ""] = section.split("\n");
      const blocks = [...section.matchAll(/^```(\w+)\n([^]*?)^```$/gm)];
      return [heading, blocks.map(([, language = "", text = ""]) => ({ language, text }))];
    }),
  );
}

/**
 * Returns whether a text matches the text of a page. `…` matches any characters, and a line that is only `…` matches
 * any lines.
 */
export function isAsShown(text: string, shown: string): boolean {
  const lines = shown
    .trimEnd()
    .split("\n")
    .map((line) => (line === "…" ? "(?:[^\n]*\n)*?" : `${patternOf(line)}\n`));
  return new RegExp(`^${lines.join("")}$`).test(`${text.trimEnd()}\n`);
}

function patternOf(line: string): string {
  return line
    .split("…")
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"))
    .join("[^\n]+");
}
