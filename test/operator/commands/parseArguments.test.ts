import { expect } from "chai";
import { type Definition, flag, integer, text } from "../../../packages/operator/src/commands/defineCommand.ts";
import { COMMANDS } from "../../../packages/operator/src/commands/commandTable.ts";
import { type RawArguments, readArguments } from "../../../packages/operator/src/commands/parseArguments.ts";
import { COMMANDS as SERVICE_COMMANDS } from "../../../packages/service/src/commands/index.ts";

const COMMAND = {
  summary: "Do something",
  options: {
    files: text("dir", "Folder", { variable: "FILES", excludes: ["url", "quiet"] }),
    url: text("url", "URL", { variable: "URL" }),
    count: integer("n", "Number", { min: 1, default: 7, variable: "COUNT" }),
    quiet: flag("Print less", { variable: "QUIET" }),
  },
};
const read = (raw: RawArguments, environment: NodeJS.ProcessEnv = {}) => readArguments(COMMAND, raw, environment);
const parse = (raw: RawArguments, environment: NodeJS.ProcessEnv = {}) => read(raw, environment).args;

describe("parseArguments", () => {
  it("prefers an option to its variable, and the variable to the default", () => {
    expect(parse({ count: "1" }, { COUNT: "2" }).count).to.equal(1);
    expect(parse({}, { COUNT: "2" }).count).to.equal(2);
    expect(parse({}, { COUNT: "" }).count).to.equal(7);
    expect(parse({ quiet: false }, { QUIET: "true" }).quiet).to.equal(true);
    expect(parse({ quiet: false }, { QUIET: "" }).quiet).to.equal(false);
  });

  it("names the variable in the error for an invalid value", () => {
    const message = "must be a whole number of 1 or more";
    expect(read({}, { COUNT: "0" }).problems).to.deep.equal([`COUNT ${message}, not "0".`]);
    expect(read({}, { QUIET: "0" }).problems).to.deep.equal(['QUIET must be true or unset, not "0".']);
  });

  it("rejects two options that exclude each other", () => {
    const both = read({ files: "dir", url: "https://files.example" });
    expect(both.problems).to.deep.equal(["--files cannot be used with --url. Use only one of them."]);
    const all = read({ files: "dir", url: "https://files.example", quiet: true, count: "0" });
    expect(all.problems).to.have.lengthOf(3);
    expect([...all.invalid]).to.deep.equal(["count"]);
  });

  it("ignores the variable of an excluded option", () => {
    expect(parse({ files: "dir" }, { URL: "https://files.example", QUIET: "true" })).to.deep.equal({
      files: "dir",
      url: undefined,
      count: 7,
      quiet: false,
    });
    expect(parse({ url: "https://files.example" }, { FILES: "dir" }).files).to.equal(undefined);
    expect(parse({}, { FILES: "dir", URL: "https://files.example" })).to.include({
      files: "dir",
      url: "https://files.example",
    });
  });
});

describe("the command definitions", () => {
  const commands = Object.entries<Definition>({ ...COMMANDS, ...SERVICE_COMMANDS });

  it("name the same variable for an option in every command", () => {
    const variables: Record<string, Set<string | undefined>> = {};
    for (const [name, { options }] of commands) {
      // The explorer's endpoints are public, so they do not come from a variable.
      if (name === "explorer") continue;
      for (const [option, { variable }] of Object.entries(options)) {
        (variables[option] ??= new Set()).add(variable);
      }
    }
    for (const [option, found] of Object.entries(variables)) expect([...found], option).to.have.lengthOf(1);
    expect(Object.entries(variables).flatMap(([option, [variable]]) => (variable === undefined ? [] : [option])))
      .to.include.members(["rpc", "chainId", "contract", "confirmations", "files", "merkleUrl", "allowHttp"])
      .and.to.include("serviceUrl");
  });

  it("exclude only options of the same command", () => {
    for (const [name, { options }] of commands) {
      for (const { excludes = [] } of Object.values(options)) {
        expect(Object.keys(options), name).to.include.members([...excludes]);
      }
    }
  });

  it("require only options of the same command", () => {
    for (const [name, { options, argument, needs }] of commands) {
      const names = [...Object.keys(options), argument?.name];
      for (const given of [{}, { records: "file" }, { bundle: "file" }, { planOnly: true }, { callOnly: true }])
        expect(names, name).to.include.members([...(needs?.(given) ?? [])]);
    }
  });
});
