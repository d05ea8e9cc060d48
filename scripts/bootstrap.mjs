// Prepares a fresh clone: installs the locked packages if they are missing or older than the lock file. It needs no
// packages, and runs on the machine's own Node (20 or later). npm compares each package, including Node's binary, with
// the lock file. It runs only the install scripts that `allowScripts` in package.json lists.
//
// With --omit=dev, it installs only the `dependencies` of package.json, which are enough for `npm start`. If some
// `devDependencies` are already installed, it installs both kinds. The first command without --omit=dev adds the
// missing packages. It leaves the installed ones in place, because `npm start` may be running.
//
// npm must run on a Node version that Hardhat supports. On an older version, npm silently omits the binary of the
// simulated chain. Therefore this script first installs the locked binary of Node in a temporary folder, and runs npm
// with it. After a plain `npm install`, it adds what npm omitted.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const readJson = (path) => JSON.parse(readFileSync(join(root, path), "utf8"));
const { devDependencies, optionalDependencies, allowScripts } = readJson("package.json");
/** npm's list of the installed packages, which npm writes last. */
const installedList = "node_modules/.package-lock.json";
/**
 * The npm option that selects the packages to install. It overrides npm's configuration. Installed development packages
 * stay, because other commands may be using them.
 */
const group = omitsDevelopmentPackages() && !hasSomeDevelopmentPackages() ? "--omit=dev" : "--include=dev";
/** The oldest version of Node that runs the project's code without a build. */
const oldestNode = "24.0.0";
/** The locked binaries of the simulated chain, of which each platform has one. */
const chains = Object.keys(readJson("package-lock.json").packages).filter((path) =>
  path.startsWith("node_modules/@nomicfoundation/edr-"),
);

/**
 * The name of the package that contains only Node's binary for this machine. The lock file has no such package for some
 * machines, such as those with macOS.
 */
const binary = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
const projectNode = optionalDependencies[binary];

/**
 * Runs npm in a folder, with this Node or the Node in `binFolder`. npm's output goes to standard error. Returns true if
 * npm succeeds.
 */
function npm(args, { cwd = root, binFolder } = {}) {
  const env = { ...process.env };
  const pathName = Object.keys(env).find((name) => name.toUpperCase() === "PATH") ?? "PATH";
  if (binFolder !== undefined) env[pathName] = `${binFolder}${delimiter}${env[pathName]}`;
  const options = { cwd, env, stdio: ["ignore", 2, 2] };
  // Use npm's script file, whose path is in a variable that `npm run` sets. On Windows, npm.cmd would use the Node in
  // npm's own folder instead.
  const npmFile = env.npm_execpath;
  if (npmFile !== undefined && basename(npmFile) === "npm-cli.js") {
    const node = binFolder === undefined ? process.execPath : join(binFolder, "..", binary, binaryFile());
    return spawnSync(node, [npmFile, ...args], options).status === 0;
  }
  // Windows runs .cmd files only in a shell. This is safe here, because every argument is a plain word.
  return spawnSync("npm", args, { ...options, shell: process.platform === "win32" }).status === 0;
}

function binaryFile() {
  return process.platform === "win32" ? "bin/node.exe" : "bin/node";
}

function isAtLeast(version, oldest) {
  const [a, b] = [version, oldest].map((text) => text.replace(/^v/, "").split(".").map(Number));
  const differs = a.findIndex((part, i) => part !== b[i]);
  return differs === -1 || a[differs] > b[differs];
}

/**
 * Returns true if development packages are to be omitted: by an argument of this script, or by an option of the `npm
 * install` that runs it.
 */
function omitsDevelopmentPackages() {
  const { npm_lifecycle_event: event, npm_config_omit: omitted = "" } = process.env;
  return process.argv.includes("--omit=dev") || (event === "postinstall" && omitted.split(/\s+/).includes("dev"));
}

/** Returns true if the packages are those of the lock file, with the locked Node and the simulated chain. */
function isCurrent() {
  return hasLockedPackages() && hasProjectNode() && hasChain();
}

/**
 * Returns true if the last complete install is at least as new as the lock file. After `npm install`, this is always
 * true, even though npm then writes the lock file last.
 */
function hasLockedPackages() {
  if (installedPackages() === undefined) return false;
  const [installed, locked] = [installedList, "package-lock.json"].map((path) => statSync(join(root, path)).mtimeMs);
  return installed >= locked;
}

/** Returns true if the binary of the simulated chain is installed. */
function hasChain() {
  return chains.length === 0 || chains.some((path) => existsSync(join(root, path)));
}

/** Returns the installed packages by folder. Returns undefined if npm has not written the list completely. */
function installedPackages() {
  try {
    return readJson(installedList).packages;
  } catch {
    return undefined;
  }
}

function hasSomeDevelopmentPackages() {
  // The list also contains the folders of linked packages, such as test/support/anvil, which every clone has.
  const installed = Object.entries(installedPackages() ?? {});
  return installed.some(([path, { dev }]) => dev && path.startsWith("node_modules/"));
}

function hasDevelopmentPackages() {
  return Object.keys(devDependencies).every((name) => existsSync(join(root, "node_modules", name)));
}

/** Returns true if the lock file's Node is installed, or if npm has no Node package for this machine. */
function hasProjectNode() {
  return projectNode === undefined || installedNodeVersion() === `v${projectNode}`;
}

function installedNodeVersion() {
  const node = join(root, "node_modules", binary, binaryFile());
  return existsSync(node) ? spawnSync(node, ["--version"], { encoding: "utf8" }).stdout?.trim() : undefined;
}

/** Installs the locked Node binary in a folder. npm rejects a binary if the lock file has another SHA-512 for it. */
function installNode(folder) {
  const name = `node_modules/${binary}`;
  const dependencies = { [binary]: projectNode };
  const locked = { ...readJson("package-lock.json").packages[name], optional: false };
  const packages = { "": { dependencies }, [name]: locked };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies }));
  writeFileSync(join(folder, "package-lock.json"), JSON.stringify({ lockfileVersion: 3, requires: true, packages }));
  return npm(["ci", "--ignore-scripts", "--loglevel=error"], { cwd: folder });
}

/**
 * Installs the locked packages without their install scripts. Then runs the install scripts that package.json allows.
 */
function installPackages(options) {
  // `ci` first removes all installed packages. `install --no-save` adds the missing packages, and does not change the
  // lock file.
  const command = hasLockedPackages() ? ["install", "--no-save"] : ["ci"];
  // `npm run --silent` also silences nested npm commands. Set the log level to show the errors of these commands.
  if (!npm([...command, group, "--ignore-scripts", "--loglevel=error"], options)) return false;
  const allowed = Object.keys(allowScripts).filter((name) => existsSync(join(root, "node_modules", name)));
  return allowed.length === 0 || npm(["rebuild", "--ignore-scripts=false", "--loglevel=error", ...allowed], options);
}

function install() {
  if (isAtLeast(process.version, oldestNode)) return installPackages();
  if (hasLockedPackages() && hasProjectNode())
    return installPackages({ binFolder: join(root, "node_modules", ".bin") });
  const folder = mkdtempSync(join(tmpdir(), "keyroot-node-"));
  try {
    return installNode(folder) && installPackages({ binFolder: join(folder, "node_modules", ".bin") });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function fail(message) {
  process.stderr.write(`keyroot: ${message}\n`);
  process.exit(1);
}

if (projectNode === undefined && !isAtLeast(process.version, oldestNode)) {
  fail(
    `this machine has Node ${process.version}, and the project brings none for ${process.platform}-${process.arch}. ` +
      `Install Node ${oldestNode} or later (https://nodejs.org) and try again.`,
  );
}
if (!isCurrent() || (group === "--include=dev" && !hasDevelopmentPackages())) {
  const packages = group === "--include=dev" ? "all locked packages" : "the locked packages that npm start needs";
  process.stderr.write(`keyroot: installing ${packages} (once, about half a minute) …\n`);
  if (!install()) fail("the packages could not be installed; see npm's message above.");
}
if (!hasProjectNode()) {
  fail(
    `node_modules holds Node ${installedNodeVersion() ?? "(none)"} instead of v${projectNode}. Let npm install optional ` +
      "packages (npm config get omit), delete node_modules and try again.",
  );
}
