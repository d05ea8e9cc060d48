import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "./sources.ts";

/** A row of docs/errors.md. */
export interface ErrorEntry {
  meaning: string;
  remedy: string;
}

/** The headings in docs/errors.md whose codes a verification can report. */
const TABLES = ["ArgumentError", "VerificationError", "TransportError"];

/** The rows of docs/errors.md about verifications, by code, as plain text. */
export function readErrorTable(): Record<string, ErrorEntry> {
  const page = readFileSync(join(PROJECT, "docs/errors.md"), "utf8");
  const sections = page.split(/^## /m).filter((section) => TABLES.some((name) => section.startsWith(`${name}\n`)));
  const rows = sections.flatMap((section) => [...section.matchAll(/^\| `([A-Z0-9_]+)` +\| (.+?) +\| (.+?) +\|$/gm)]);
  return Object.fromEntries(
    rows.map(([, code = "", meaning = "", remedy = ""]) => [code, { meaning: plain(meaning), remedy: plain(remedy) }]),
  );
}

function plain(markdown: string): string {
  return markdown.replace(/\[([^\]]+)\]\([^)]+\)/g, "$1").replace(/[`*]/g, "");
}
