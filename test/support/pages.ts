import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../../scripts/test/root.ts";

/** A page's text. @param path below the project's folder, such as `docs/install.md` */
export const readPage = (path: string) => readFile(join(ROOT, path), "utf8");

/** The code blocks in one language below a heading of level 2, without the indentation of list items. */
export function blocksOf(page: string, language: string, heading: string): string[] {
  const [section = ""] = page.split(`\n## ${heading}\n`)[1]?.split("\n## ") ?? [];
  const blocks = [...section.matchAll(new RegExp(`^( *)\`\`\`${language}\n([^]*?)\`\`\``, "gm"))];
  return blocks.map(([, indentation = "", code = ""]) => code.replaceAll(new RegExp(`^${indentation}`, "gm"), ""));
}

/** The variables of an environment file. */
export function variablesIn(text: string): Record<string, string> {
  const lines = text.trim().split("\n");
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
}
