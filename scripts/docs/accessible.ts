/** Corrects what axe finds in the pages of TypeDoc's theme, and links to folders. */
export function accessible(html: string): string {
  return withoutSkippedLevels(
    html
      // The first page has the title of the README.
      .replace(/<div class="tsd-page-title">\s*<h1>Keyroot<\/h1><\/div>/, "")
      // A folder is not a page without a server.
      .replace(/ href="(\.\/|(?:\.\.\/)+)(?=["#])/g, ' href="$1index.html')
      // A header without text is no header.
      .replace(/<th( [^>]*)?><\/th>/g, "<td$1></td>")
      .replace('<div class="col-content">', '<div class="col-content" role="main">')
      .replace('<div class="page-menu">', '<div class="page-menu" role="complementary" aria-label="This page">')
      // A heading that opens and closes its section must not contain another control.
      .replace(/<summary[^>]*>[^]*?<\/summary>/g, (summary) =>
        summary.replace(/<a [^>]*class="tsd-anchor-icon"[^>]*>.*?<\/a>/g, ""),
      ),
  );
}

/** Gives a heading that skips a level the next one after the heading before it. */
function withoutSkippedLevels(html: string): string {
  let level = 0;
  return html.replace(/<h([1-6])\b/g, (heading, digit: string) => {
    const skips = Number(digit) > level + 1;
    level = Math.min(Number(digit), level + 1);
    return skips ? `${heading} aria-level="${level}"` : heading;
  });
}
