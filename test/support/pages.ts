import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../scripts/test/root.ts";

/** A block of code of a page. */
export interface CodeBlock {
  /** The heading of level 2 above the block. */
  heading: string;
  /** The word after the opening fence, such as `js` or `sh`. */
  language: string;
  text: string;
}

/** A page's text. @param path below the project's folder, such as `docs/install.md` */
export const readPage = (path: string) => readFile(join(ROOT, path), "utf8");

/** The code blocks of a page in their order, without the indentation of list items. */
export function codeBlocksOf(page: string): CodeBlock[] {
  return `\n${page}`.split("\n## ").flatMap((section) => {
    const [heading = ""] = section.split("\n");
    const blocks = section.matchAll(/^( *)```(\w+)\n([^]*?)^ *```$/gm);
    return Array.from(blocks, ([, indentation = "", language = "", text = ""]) => {
      return { heading, language, text: text.replaceAll(new RegExp(`^${indentation}`, "gm"), "") };
    });
  });
}

/** The texts of a page's code blocks in one language: all, or those below a heading of level 2. */
export function blocksOf(page: string, language: string, heading?: string): string[] {
  const blocks = codeBlocksOf(page).filter((block) => block.language === language);
  return blocks.flatMap((block) => (heading === undefined || block.heading === heading ? [block.text] : []));
}

/** Runs a program that imports the project's packages. @returns what it prints */
export async function printedBy(program: string): Promise<string> {
  const args = ["--input-type=module", "--eval", program];
  return (await promisify(execFile)(process.execPath, args, { cwd: ROOT })).stdout;
}

/** The variables of an environment file. */
export function variablesIn(text: string): Record<string, string> {
  const lines = text.trim().split("\n");
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
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
