/**
 * Writes docs/glossary.md, a list of every public name with the name's meaning.
 *
 *     node scripts/generate/glossary.ts            writes the page
 *     node scripts/generate/glossary.ts --check    exits with 1 if the page is not up to date
 */
import { actions, apiFields, commandOptions, events, exportedNames, type Term, variables } from "./glossaryTerms.ts";
import { WORDS } from "./glossaryWords.ts";
import { formatFor, writeOrCheck } from "./writeOrCheck.ts";

const PAGE = "docs/glossary.md";

const sections: [string, string, readonly Term[]][] = [
  ["Exports", "Package", exportedNames()],
  ["Options of commands", "Commands", await commandOptions()],
  ["Variables", "", variables()],
  ["Fields of the API", "", apiFields()],
  ["Events", "", events()],
  ["Actions of the audit log", "", actions()],
];
const text = [WORDS, ...sections.map(([title, column, terms]) => sectionOf(title, column, terms))].join("\n");
await writeOrCheck(PAGE, await formatFor(PAGE, text));

/** Makes a table of terms, sorted by name. Places with the same meaning share a row. */
function sectionOf(title: string, column: string, terms: readonly Term[]): string {
  const rows = new Map<string, { name: string; meaning: string; places: Set<string> }>();
  for (const { name, meaning, where } of terms) {
    const row = rows.get(`${name}\n${meaning}`) ?? { name, meaning, places: new Set() };
    rows.set(`${name}\n${meaning}`, row);
    row.places.add(where);
  }
  const sorted = [...rows.values()].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const cell = (value: string) =>
    value
      .replaceAll("|", "\\|")
      .replaceAll("<", "&lt;")
      .replace(/\]\([^)]*\)/g, "]")
      .replace(/[[\]]/g, "");
  const lines = sorted.map(({ name, meaning, places }) => {
    const where = column === "" ? "" : ` ${[...places].sort().join(", ")} |`;
    return `| \`${name}\` | ${cell(meaning)} |${where}`;
  });
  const head =
    column === "" ? "| Name | Meaning |\n| --- | --- |" : `| Name | Meaning | ${column} |\n| --- | --- | --- |`;
  return `## ${title}\n\n${head}\n${lines.join("\n")}\n`;
}
