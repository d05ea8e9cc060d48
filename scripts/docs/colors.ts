import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The colors of TypeDoc's theme, with the names of the product's colors in base.css. */
const COLORS: Readonly<Record<string, string>> = {
  "color-background": "page",
  "color-background-secondary": "raised",
  "color-background-active": "accent-tint",
  "color-accent": "line",
  "color-text": "text",
  "color-contrast-text": "text",
  "color-text-aside": "muted",
  "color-link": "accent",
  "color-focus-outline": "accent",
  "color-comment-tag": "raised",
  "code-background": "surface",
};

/** Adds the colors of the explorer and the dashboard to the site's style sheet. */
export function addProductColors(root: string, path: string): void {
  const base = readFileSync(join(root, "packages/web/src/shared/base.css"), "utf8");
  const rules = Object.entries(COLORS).map(([name, own]) => {
    const [, light, dark] = new RegExp(`--${own}: light-dark\\((#\\w+), (#\\w+)\\);`).exec(base) ?? [];
    if (light === undefined || dark === undefined) throw new Error(`base.css has no color --${own}.`);
    return `--light-${name}: ${light}; --dark-${name}: ${dark};`;
  });
  writeFileSync(path, `:root { ${rules.join(" ")} }\n${readFileSync(path, "utf8")}`);
}
