import { posix } from "node:path";

/** A Markdown page in the project and in the tarball. */
interface CopiedPage {
  from: string;
  to: string;
  /** All that is copied: path in the tarball -> path in the project. */
  files: Readonly<Record<string, string>>;
  /** As in package.json: git+https://…/<name>.git */
  repository: string;
}

/**
 * Makes a page's links work where the project's other files are not: on the registry's page and in `node_modules`. Links
 * to files of the tarball stay relative, all others lead to the repository's main branch.
 */
export function absoluteLinks(page: string, { from, to, files, repository }: CopiedPage): string {
  const base = `${repository.replace(/^git\+/, "").replace(/\.git$/, "")}/blob/main`;
  const inTarball = new Map(Object.entries(files).map(([packed, source]) => [source, packed]));
  return page.replace(/(\]\()(?![a-z]+:|#)([^)#\s]+)/g, (_, open: string, link: string) => {
    const target = posix.join(posix.dirname(from), link);
    const packed = inTarball.get(target);
    return `${open}${packed === undefined ? `${base}/${target}` : posix.relative(posix.dirname(to), packed)}`;
  });
}
