/** The targets of a page's links. */
export function linksIn(page: string): string[] {
  return [...page.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
}

/** The names by which GitHub links to a page's headings. */
export function headingsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}
