import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { format, type Options, resolveConfig } from "prettier";
import { ROOT } from "../test/root.ts";

/**
 * Formats a generated text like the other files of the project.
 * @param path the file's path below the project's folder
 */
export async function formatFor(path: string, text: string, options: Options = {}): Promise<string> {
  const filepath = join(ROOT, path);
  return format(text, { ...(await resolveConfig(filepath)), filepath, ...options });
}

/**
 * Writes a generated file. With `--check`, it only compares the file, and exits with 1 if the file is not up to date.
 * @param path the file's path below the project's folder
 * @param command the command that writes the file
 */
export async function writeOrCheck(path: string, text: string, command = "npm run generate"): Promise<void> {
  const file = join(ROOT, path);
  if (!process.argv.includes("--check")) {
    await writeFile(file, text);
  } else if ((await readFile(file, "utf8").catch(() => "")) !== text) {
    process.stderr.write(`${path} is not up to date: run '${command}', and commit the result.\n`);
    process.exitCode = 1;
  }
}
