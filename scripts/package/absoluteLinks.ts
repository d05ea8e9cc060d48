import { posix } from "node:path";

/**
 * Turns the relative links of a Markdown page into absolute links to the repository's main branch. Relative links would
 * not work in the tarball or on the registry's page, because the project's other files are not there.
 * @param path the path of the page in the project
 * @param repository `repository.url` of a package.json: `git+https://…/<name>.git`
 */
export function absoluteLinks(page: string, path: string, repository: string): string {
  const base = `${repository.replace(/^git\+/, "").replace(/\.git$/, "")}/blob/main`;
  return page.replace(/(\]\()(?![a-z]+:|#)([^)\s]+)/g, (_, open: string, link: string) => {
    return `${open}${base}/${posix.join(posix.dirname(path), link)}`;
  });
}
