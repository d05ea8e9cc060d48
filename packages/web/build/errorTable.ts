import { ERROR_CODES } from "keyroot";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "./sources.ts";

/** A row of a table in docs/errors.md. */
export interface ErrorEntry {
  meaning: string;
  remedy: string;
}

/** The headings in docs/errors.md above the codes that a verification can report. */
const TABLES = ["ArgumentError", "VerificationError", "TransportError"];

/** The codes of the library. Visitors of the explorer do not meet the codes of the other packages. */
const CODES = new Set<string>(ERROR_CODES);

/** Reads the rows of docs/errors.md that concern verifications. Returns them by code, as plain text. */
export function readErrorTable(): Record<string, ErrorEntry> {
  const page = readFileSync(join(PROJECT, "docs/errors.md"), "utf8");
  const sections = page.split(/^## /m).filter((section) => TABLES.some((name) => section.startsWith(`${name}\n`)));
  const rows = sections.flatMap((section) => [...section.matchAll(/^\| `([A-Z0-9_]+)` +\| (.+?) +\| (.+?) +\|$/gm)]);
  return Object.fromEntries(
    rows
      .filter(([, code = ""]) => CODES.has(code))
      .map(([, code = "", meaning = "", remedy = ""]) => [code, { meaning: plain(meaning), remedy: plain(remedy) }]),
  );
}

function plain(markdown: string): string {
  return markdown.replace(/\[([^\]]+)\]\([^)]+\)/g, "$1").replace(/[`*]/g, "");
}
