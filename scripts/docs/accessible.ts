/** Corrects the problems that axe finds in TypeDoc's theme, and corrects links to folders. */
export function accessible(html: string): string {
  return withoutSkippedLevels(
    html
      // Remove TypeDoc's title, because the README on this page already has a title.
      .replace(/<div class="tsd-page-title">\s*<h1>Keyroot<\/h1><\/div>/, "")
      // Add index.html to links to folders, because a browser without a server shows no page for a folder.
      .replace(/ href="(\.\/|(?:\.\.\/)+)(?=["#])/g, ' href="$1index.html')
      // Turn empty header cells into data cells.
      .replace(/<th( [^>]*)?><\/th>/g, "<td$1></td>")
      .replace('<div class="col-content">', '<div class="col-content" role="main">')
      .replace('<div class="page-menu">', '<div class="page-menu" role="complementary" aria-label="This page">')
      // Remove links from headings that open and close a section.
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
