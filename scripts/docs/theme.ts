import { basename, dirname } from "node:path";
import { DefaultTheme, KindRouter, type NavigationElement, type ProjectReflection, type Reflection } from "typedoc";

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
  protected override getIdealBaseName(reflection: Reflection): string {
    const file = reflection.isDocument() ? reflection.project.files.getReflectionPath(reflection) : undefined;
    if (file === undefined) return super.getIdealBaseName(reflection);
    const name = basename(file, ".md");
    if (name !== "README") return `documents/${name.toLowerCase()}`;
    const folder = dirname(file);
    return `documents/${basename(dirname(folder)) === "examples" ? "example-" : ""}${basename(folder)}`;
  }
}
