/**
 * Writes docs/commands.md from the definitions of commands:
 *
 *     node scripts/generate/commandReference.ts            writes the page
 *     node scripts/generate/commandReference.ts --check    exits with 1 if the page is not up to date
 */
import { commandsWith, loadServiceCommands } from "@keyroot/operator/commands";
import { type Definition, describeOption, optionName } from "@keyroot/operator/definition";
import { HARDHAT_COMMANDS } from "@keyroot/service/commands";
import { demoCommand } from "../../tasks/demoCommand.ts";
import { PUBLISH_OUTPUT } from "./publishOutput.ts";
import { formatFor, writeOrCheck } from "./writeOrCheck.ts";

const PAGE = "docs/commands.md";

const INTRODUCTION = `# Commands

<!-- Written by scripts/generate/commandReference.ts from the files of packages/operator/src/commands. Do not edit. -->

Install \`@keyroot/operator\`, and run a command:

\`\`\`console
npm install @keyroot/operator
npx keyroot status --rpc https://… --contract 0x…
\`\`\`

In a Hardhat 3 project, add the plugin. The same commands then use the project's networks and keystore:

\`\`\`js
// hardhat.config.ts
import keyroot from "@keyroot/operator/hardhat";
import { defineConfig } from "hardhat/config";

export default defineConfig({ plugins: [keyroot] });
\`\`\`

\`\`\`console
npx hardhat keyroot status --network sepolia --contract 0x…
\`\`\`

## What all commands have in common

- **Output.** A command prints text, or one JSON object with \`--json\`. \`publish --json\` and \`watch --json\` print one object per
  line. Errors are text on standard error or, with \`--json\`, \`{"error":{"code":…,"message":…}}\` on standard output.
  [docs/errors.md](errors.md) explains the codes.
- **Exit codes.** The exit code is 0 for success, and 1 if the checked statement is forged, malformed, incomplete or not published.
  It is 2 for invalid arguments, and 3 if the network or a service is unavailable. After Ctrl-C, \`serve\`, \`watch\` and \`stack\` stop
  normally, and other commands exit with 130.
- **Variables.** If an option has a variable, its description names it. If both are set, the option applies. These variables
  mean the same in all commands: \`KEYROOT_RPC_URL\`, \`KEYROOT_CHAIN_ID\`, \`KEYROOT_CONTRACT\`, \`KEYROOT_CONFIRMATIONS\`,
  \`KEYROOT_FILES\`, \`KEYROOT_MERKLE_URL\`, \`KEYROOT_ALLOW_HTTP\`, \`KEYROOT_SERVICE_URL\`. [Variables](variables.md) lists all of them.
- **Local stack.** If neither an option, a variable nor \`--network\` selects a chain, a command uses the stack that
  \`npx hardhat keyroot stack\` or \`npm start\` runs in the same folder. To use another stack, set \`KEYROOT_STACK_FILE\` to its file.
  See [the quick starts](quickstart.md#start-a-local-system).
- **Plain http.** Commands reject plain http to another machine, because anyone in the network can change the transferred data.
  \`--allow-http\` or \`KEYROOT_ALLOW_HTTP=true\` allows it, for example in a private network.
- **Secrets.** Pass secrets in variables, because other users of the machine can read arguments. The secrets are
  \`KEYROOT_ADMIN_TOKEN\`, \`KEYROOT_ALARM_URL\`, and \`KEYROOT_RPC_URL\` if it contains a token. For the owner's key, see
  [Publishing](publishing.md#sign).
- **State.** Unfinished plans and audit states are in the folder \`.keyroot\`, in the current folder or in the Hardhat project.
- **Colors.** Commands print colors only in terminals. \`NO_COLOR=1\` turns colors off, and \`FORCE_COLOR=1\` turns them on.
- **Help.** \`--help\` after a command lists its options. \`--show-stack-traces\` prints the stack trace of an unexpected error.
`;

function section(name: string, { summary, argument, options }: Definition, program = "npx keyroot"): string {
  const value = argument === undefined ? "" : { required: " USER", optional: " [USER]", many: " FILE…" }[argument.kind];
  const rows = Object.entries(options).map(([option, spec]) => {
    const flag = spec.kind === "flag" ? "" : ` <${spec.value}>`;
    return `| \`${optionName(option)}${flag}\` | ${describeOption(spec)
      .replaceAll("|", "\\|")
      .replaceAll(/\S*<[^>]+>\S*/g, "`$&`")} |`;
  });
  return [
    `### ${name}\n`,
    `${summary}.\n`,
    `\`${program} ${name}${value} [options]\`\n`,
    ...(argument === undefined ? [] : [`${argument.description.replaceAll(/<[^>]+>\S*/g, "`$&`")}.\n`]),
    "| Option | Meaning |\n| --- | --- |",
    ...rows,
    "",
  ].join("\n");
}

const page = [
  INTRODUCTION,
  PUBLISH_OUTPUT,
  "## Commands of both hosts\n",
  ...Object.entries(commandsWith(await loadServiceCommands())).map(([name, command]) => section(name, command)),
  "## Commands that need Hardhat\n",
  section("stack", HARDHAT_COMMANDS.stack, "npx hardhat keyroot"),
  "## Commands of this repository\n",
  section("demo", demoCommand, "npx hardhat keyroot"),
].join("\n");
await writeOrCheck(PAGE, await formatFor(PAGE, page), "node scripts/generate/commandReference.ts");
