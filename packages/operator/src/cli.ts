#!/usr/bin/env node
/** Checks Node's version, and then loads the program `keyroot`, which older versions cannot load. */

/** The version in `engines` of package.json. */
const OLDEST = { major: 22, minor: 13 };
/** The newest Node version that the tests use. */
const NEWEST_TESTED = 24;

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor)) {
  refuse(`Keyroot needs Node ${OLDEST.major}.${OLDEST.minor} or later.`);
} else {
  const program = await load();
  await program?.runProgram();
}

/**
 * Loads the program. If loading fails in a version of Node that is newer than the tested ones, it returns undefined.
 */
async function load() {
  try {
    return await import("./program.ts");
  } catch (error) {
    if (major <= NEWEST_TESTED) throw error;
    refuse(
      `Keyroot cannot be loaded: ${(error as Error).message}. The newest tested version is Node ${NEWEST_TESTED}.`,
    );
    return undefined;
  }
}

/**
 * Prints an error in the format of the commands. It imports no other code, because that code may fail to load in this
 * version of Node.
 */
function refuse(reason: string): void {
  const message = `${reason} This is Node ${process.versions.node}. Install Node ${NEWEST_TESTED} (https://nodejs.org), or put 'npx -y -p node@${NEWEST_TESTED}' before the command.`;
  process.exitCode = 2;
  if (process.argv.includes("--json"))
    process.stdout.write(`${JSON.stringify({ error: { code: "NODE_UNSUPPORTED", message } })}\n`);
  else process.stderr.write(`NODE_UNSUPPORTED: ${message}\n`);
}
