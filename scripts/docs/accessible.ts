/** Corrects the problems that axe finds in TypeDoc's theme, and corrects links to folders. */
export function accessible(html: string): string {
  return withoutSkippedLevels(
    html
      // The first page already has the title of the README.
      .replace(/<div class="tsd-page-title">\s*<h1>Keyroot<\/h1><\/div>/, "")
      // Without a server, a link to a folder shows no page.
      .replace(/ href="(\.\/|(?:\.\.\/)+)(?=["#])/g, ' href="$1index.html')
      // An empty header cell is not a header.
      .replace(/<th( [^>]*)?><\/th>/g, "<td$1></td>")
      .replace('<div class="col-content">', '<div class="col-content" role="main">')
      .replace('<div class="page-menu">', '<div class="page-menu" role="complementary" aria-label="This page">')
      // The heading that opens and closes a section must not contain another control.
      .replace(/<summary[^>]*>[^]*?<\/summary>/g, (summary) =>
        summary.replace(/<a [^>]*class="tsd-anchor-icon"[^>]*>.*?<\/a>/g, ""),
      ),
  );
}

/** Corrects headings that skip a level. */
function withoutSkippedLevels(html: string): string {
  let level = 0;
  return html.replace(/<h([1-6])\b/g, (heading, digit: string) => {
    const skips = Number(digit) > level + 1;
    level = Math.min(Number(digit), level + 1);
    return skips ? `${heading} aria-level="${level}"` : heading;
  });
}
