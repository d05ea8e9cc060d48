import { basename, dirname } from "node:path";
import {
  DefaultTheme,
  DocumentReflection,
  KindRouter,
  type NavigationElement,
  type PageDefinition,
  type ProjectReflection,
  type Reflection,
} from "typedoc";
import { ERRORS_PAGE, errorRowsIn } from "./errorLinks.ts";

/** TypeDoc's theme, with a menu of pages and modules. The page of a module lists its exports. */
export class SiteTheme extends DefaultTheme {
  override buildNavigation(project: ProjectReflection): NavigationElement[] {
    return super.buildNavigation(project).map(({ text, children = [], ...group }) => ({
      ...group,
      text: text === "Modules" ? "API reference" : text,
      children: children.map(withoutChildren),
    }));
  }
}

function withoutChildren(element: NavigationElement): NavigationElement {
  const leaf = { ...element };
  delete leaf.children;
  return leaf;
}

/** Names the pages of documents after their files, so that a URL does not change with a title. */
export class SiteRouter extends KindRouter {
  /** Also makes each error code a link target without a page, so that the search finds the code's row. */
  override buildPages(project: ProjectReflection): PageDefinition[] {
    const pages = super.buildPages(project);
    const errors = project.documents?.find((document) => this.getFullUrl(document) === ERRORS_PAGE);
    const content = errors?.content.map((part) => part.text).join("") ?? "";
    for (const [code, text] of errorRowsIn(content)) {
      const row = new DocumentReflection(code, project, [{ kind: "text", text }], {});
      this.fullUrls.set(row, `${ERRORS_PAGE}#${code}`);
    }
    return pages;
  }

  protected override getIdealBaseName(reflection: Reflection): string {
    const file = reflection.isDocument() ? reflection.project.files.getReflectionPath(reflection) : undefined;
    if (file === undefined) return super.getIdealBaseName(reflection);
    const name = basename(file, ".md");
    if (name !== "README") return `documents/${name.toLowerCase()}`;
    const folder = dirname(file);
    return `documents/${basename(dirname(folder)) === "examples" ? "example-" : ""}${basename(folder)}`;
  }
}
