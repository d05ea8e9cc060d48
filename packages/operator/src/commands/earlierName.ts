import { globSync } from "node:fs";

/**
 * Returns the name of a file or folder for a chain, in the form `part-part`. Versions before 0.4.0 added the first 8 digits
 * of the genesis block's hash for every chain. If there is exactly one such name, it is still used.
 * @param dir the folder of the file or folder
 * @param parts the parts of the name. An undefined part is the place of those digits
 */
export function earlierName(dir: string, parts: readonly (string | undefined)[], extension = ""): string {
  const name = parts.filter((part) => part !== undefined).join("-") + extension;
  if (!parts.includes(undefined)) return name;
  const pattern = parts.map((part) => part ?? "[0-9a-f]".repeat(8)).join("-") + extension;
  const found = globSync([name, pattern], { cwd: dir });
  const [only = name] = found;
  return found.length === 1 ? only : name;
}
