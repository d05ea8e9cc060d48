/** The path of the page of errors in the site. */
export const ERRORS_PAGE = "documents/errors.html";

/** HTML elements in which error codes do not become links. */
const WITHOUT_LINKS = new Set([
  "a",
  "button",
  "h1",
  "h2",
  "h3",
  "option",
  "pre",
  "script",
  "style",
  "summary",
  "title",
]);
const CODE = /(?<!\w)[A-Z][A-Z0-9_]+(?!\w)/g;

/** Returns the rows of the tables in docs/errors.md that begin with an error code, by these codes. */
export function errorRowsIn(page: string): ReadonlyMap<string, string> {
  return new Map([...page.matchAll(/^\| `([A-Z][A-Z0-9_]+)` .*$/gm)].map(([row, code = ""]) => [code, row]));
}

/** Finds the table rows that begin with an error code. Sets the id of each row to it. */
export function addErrorIds(html: string, codes: ReadonlyMap<string, string>): string {
  return html.replace(/<tr>(\s*<td><code>([A-Z][A-Z0-9_]+)<\/code>)/g, (row, cells: string, code: string) =>
    codes.has(code) ? `<tr id="${code}">${cells}` : row,
  );
}

/**
 * Links each error code in a page's text to its row in the table of codes.
 * @param url the relative URL of the page with the rows, or an empty text if they are on this page
 */
export function linkErrors(html: string, codes: ReadonlyMap<string, string>, url: string): string {
  const open: string[] = [];
  const parts = html.split(/(<[^>]*>)/);
  const linked = parts.map((part) => {
    const [, slash, name = ""] = /^<(\/?)([a-z0-9]+)/.exec(part) ?? [];
    if (WITHOUT_LINKS.has(name)) {
      if (slash === "/") open.splice(open.lastIndexOf(name), 1);
      else if (!part.endsWith("/>")) open.push(name);
    }
    if (part.startsWith("<") || open.length > 0) return part;
    return part.replace(CODE, (code) => (codes.has(code) ? `<a href="${url}#${code}">${code}</a>` : code));
  });
  return linked.join("");
}
