import { expect } from "chai";
import hre from "hardhat";
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { MAX_VALUES } from "keyroot/internal/merkle";
import { type Definition, describeOption, optionName } from "../../../packages/operator/src/commands/defineCommand.ts";
import { COMMANDS } from "../../../packages/operator/src/commands/commandTable.ts";
import * as service from "../../../packages/service/src/commands/index.ts";
import { COMMANDS as SERVICE_COMMANDS } from "../../../packages/service/src/commands/index.ts";
import { DEFAULT_USERS_PER_FILE } from "../../../packages/operator/src/publisher/plan/cutIntoFiles.ts";
import { outcomeOf, program } from "../../support/processes/commandLine.ts";

const commands = Object.entries<Definition>({ ...COMMANDS, ...SERVICE_COMMANDS });

describe("the definitions of commands", () => {
  for (const [name, { summary, argument, options }] of commands) {
    it(`are the same in keyroot and Hardhat for ${name}`, async () => {
      const task = hre.tasks.getTask(["keyroot", name]);
      expect(task.description).to.equal(summary);
      const expected = Object.entries(options).map(([option, spec]) => [
        option.replace(/ID$/, "Id"),
        describeOption(spec),
      ]);
      const inHardhat = [...task.options.values()].map(({ name, description }) => [name, description]);
      expect(inHardhat).to.deep.equal(expected);
      expect(task.positionalArguments.map(({ name }) => name)).to.deep.equal(
        argument === undefined ? [] : [argument.name],
      );

      const { code, stdout } = await program.run([name, "--help"], { env: { COLUMNS: "1000" } });
      expect(code).to.equal(0);
      const help = stdout.replace(/\s+/g, " ");
      expect(help).to.contain(`${summary}.`);
      for (const [option, spec] of Object.entries(options)) {
        const value = spec.kind === "flag" ? "" : ` <${spec.value}>`;
        expect(help).to.contain(`${optionName(option)}${value} ${describeOption(spec)}`);
      }
      const listed = Array.from(stdout.matchAll(/^ {2}(--[a-z-]+)/gm), ([, option]) => option);
      expect(listed).to.deep.equal(Object.keys(options).map(optionName));
    });
  }

  it("are up to date in docs/commands.md", async () => {
    const script = fileURLToPath(new URL("../../../scripts/generate/commandReference.ts", import.meta.url));
    const { code, stderr } = await outcomeOf(spawn(process.execPath, [script, "--check"], { stdio: "pipe" }));
    expect([code, stderr]).to.deep.equal([0, ""]);
  });

  it("include every command that tasks/index.ts names", async () => {
    const index = await readFile(new URL("../../../tasks/index.ts", import.meta.url), "utf8");
    const listed = Array.from(index.matchAll(/^ \* \| ([a-z, -]+?) +\|/gm), ([, names = ""]) =>
      names.split(", "),
    ).flat();
    const named = listed.filter((name) => name !== "commands" && /[a-z]/.test(name));
    const all = [...commands.map(([name]) => name), ...Object.keys(service.HARDHAT_COMMANDS), "demo"];
    expect(named).to.have.members(all);
  });

  it("contain the same defaults and limits as the code", () => {
    expect(COMMANDS.publish.options.usersPerFile).to.include({ default: DEFAULT_USERS_PER_FILE, max: MAX_VALUES });
  });
});
