import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/**
 * Creates a page about the packages whose code is part of the modules. Their licenses require the license text in every
 * copy, and audits need their versions.
 * @param folder the package's folder, from which the dependencies are resolved
 * @param bundled the names and versions of the packages
 */
export function thirdPartyNotices(folder: string, bundled: ReadonlyMap<string, string>): string {
  const sections = [...bundled].map(([name, version]) => {
    const license = licenseOf(packageFolder(folder, name));
    return `## ${name} ${version}\n\n\`\`\`text\n${license.trim()}\n\`\`\`\n`;
  });
  return `# Third-party code\n\nThe modules in \`dist\` contain code of these packages.\n\n${sections.join("\n")}`;
}

function packageFolder(from: string, name: string): string {
  const paths = createRequire(join(from, "package.json")).resolve.paths(name) ?? [];
  const found = paths.map((path) => join(path, name)).find((path) => readdirOrEmpty(path).includes("package.json"));
  if (found === undefined) throw new Error(`The bundled package ${name} is not in node_modules.`);
  return found;
}

function licenseOf(folder: string): string {
  const file = readdirOrEmpty(folder).find((name) => /^licen[cs]e(\.\w+)?$/i.test(name));
  if (file === undefined) throw new Error(`${folder} has no license file. Add its license by hand before publishing.`);
  return readFileSync(join(folder, file), "utf8");
}

function readdirOrEmpty(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
