import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { Application, Converter, type DocumentReflection, PageEvent, ReflectionKind } from "typedoc";
import { accessible } from "./accessible.ts";
import { addProductColors } from "./colors.ts";
import { addErrorIds, ERRORS_PAGE, errorRowsIn, linkErrors } from "./errorLinks.ts";
import { apiEntries, GROUP_ORDER, sitePages } from "./pages.ts";
import { shortenTypes } from "./readableTypes.ts";
import { SiteRouter, SiteTheme } from "./theme.ts";

/**
 * Builds the static site from the Markdown pages and the API reference.
 * @param root the folder of the project
 * @param out the folder of the site. An existing folder is replaced
 * @throws Error if a page or doc comment links to something that does not exist
 */
export async function makeSite(root: string, out: string): Promise<void> {
  const entries = apiEntries(root);
  const pages = sitePages(root);
  const app = await Application.bootstrap({
    name: "Keyroot",
    entryPoints: [...entries.keys()].map((path) => join(root, path)),
    projectDocuments: [...pages.keys()].map((path) => join(root, path)),
    readme: join(root, "README.md"),
    tsconfig: join(import.meta.dirname, "tsconfig.json"),
    // `npm run check` already checks all types.
    skipErrorChecking: true,
    ...{ out, cleanOutputDir: true, router: "site", theme: "site", disableSources: true, excludeExternals: true },
    ...{
      customCss: join(import.meta.dirname, "site.css"),
      customJs: join(import.meta.dirname, "site.js"),
      searchInDocuments: true,
      useFirstParagraphOfCommentAsSummary: true,
      hideGenerator: true,
    },
    ...{ sort: ["alphabetical"], groupOrder: [...GROUP_ORDER, "*"], navigation: { includeGroups: true } },
    highlightLanguages: [
      "console",
      "css",
      "html",
      "http",
      "ini",
      "js",
      "json",
      "kotlin",
      "nginx",
      "sh",
      "solidity",
      "sql",
      "swift",
      "ts",
      "yaml",
    ],
    ignoredHighlightLanguages: ["caddyfile", "haproxy", "text"],
  });
  app.renderer.defineRouter("site", SiteRouter);
  app.renderer.defineTheme("site", SiteTheme);
  shortenTypes(app);
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const reflection of Object.values(project.reflections)) {
      const file = project.files.getReflectionPath(reflection);
      const path = file === undefined ? "" : relative(root, file);
      if (reflection.kindOf(ReflectionKind.Module)) reflection.name = entries.get(path) ?? reflection.name;
      if (reflection.isDocument()) describe(reflection, pages.get(path));
    }
  });
  const codes = errorRowsIn(readFileSync(join(root, "docs/errors.md"), "utf8"));
  app.renderer.on(PageEvent.END, (page) => {
    const depth = page.url.split("/").length - 1;
    const url = page.url === ERRORS_PAGE ? "" : "../".repeat(depth) + ERRORS_PAGE;
    const html = page.url === ERRORS_PAGE ? addErrorIds(page.contents ?? "", codes) : (page.contents ?? "");
    page.contents = accessible(linkErrors(html, codes, url));
  });

  const project = await app.convert();
  if (project === undefined) throw new Error("The API could not be read. The lines above say why.");
  app.validate(project);
  await app.generateOutputs(project);
  addProductColors(root, join(out, "assets/custom.css"));
  if (app.logger.hasErrors() || app.logger.hasWarnings())
    throw new Error("The site has the problems that the lines above describe.");
}

/** Sets a page's title from its first heading, and its place in the menu from the table of pages. */
function describe(page: DocumentReflection, group = ""): void {
  const [{ text } = { text: "" }] = page.content;
  page.name = /^# (.+)$/m.exec(text)?.[1] ?? page.name;
  page.frontmatter["group"] = group;
}
