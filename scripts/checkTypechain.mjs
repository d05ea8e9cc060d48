// Fails when the committed typechain-types are not what the contracts give: builds them anew and compares. After a
// failure they are fresh, ready to commit.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const dir = join(root, "typechain-types");

function snapshot() {
  const files = readdirSync(dir, { recursive: true }).filter((name) => name.endsWith(".ts"));
  return JSON.stringify(files.sort().map((name) => [name, readFileSync(join(dir, name), "utf8")]));
}

const committed = snapshot();
const hardhat = join(root, "node_modules", "hardhat", "dist", "src", "cli.js");
const { status } = spawnSync(process.execPath, [hardhat, "build", "--force", "--quiet"], {
  cwd: root,
  stdio: "inherit",
});
if (status !== 0) process.exit(1);
if (snapshot() !== committed) {
  process.stderr.write("typechain-types were not what the contracts give; they are now: commit them.\n");
  process.exit(1);
}
