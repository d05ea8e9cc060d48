import { existsSync } from "node:fs";

const FOLDERS = ["/usr/bin", "/usr/sbin"];

/**
 * Returns the path of a program that a Debian package installs. To use another path, set a variable with the program's
 * name in capital letters.
 * @throws Error if the program is not installed
 */
export function debianProgram(program: string, debianPackage: string): string {
  const variable = program.toUpperCase();
  const paths =
    process.env[variable] === undefined ? FOLDERS.map((folder) => `${folder}/${program}`) : [process.env[variable]];
  const found = paths.find((path) => existsSync(path));
  if (found !== undefined) return found;
  const remedy = `On Debian, run 'apt-get install ${debianPackage}'. Otherwise, set the ${variable} variable to its path.`;
  throw new Error(`There is no ${program} at ${paths.join(" or ")}. ${remedy}`);
}
