import { expect } from "chai";
import { text } from "node:stream/consumers";
import { stripVTControlCharacters } from "node:util";
import { hasTerminals, program, startInTerminal } from "../../support/processes/commandLine.ts";

const RED = "\u001b[31m";

describe("colors", () => {
  // Without a running stack, this command prints an error.
  const args = ["status"];
  const onPipe = async (env: NodeJS.ProcessEnv) => (await program.run(args, { env })).stderr;
  const onTerminal = async (env: NodeJS.ProcessEnv) => {
    const command = [...program.words, ...args].map((word) => `'${word}'`).join(" ");
    return text(startInTerminal(command, env).stdout);
  };

  it("are absent from the output to a pipe", async () => {
    const output = await onPipe({});
    expect(stripVTControlCharacters(output)).to.equal(output);
  });

  it("are present in the output to a pipe with FORCE_COLOR", async () => {
    const output = await onPipe({ FORCE_COLOR: "1" });
    expect(output.startsWith(RED)).to.be.true;
    expect(stripVTControlCharacters(output)).to.equal(await onPipe({}));
  });

  describe("in a terminal", () => {
    before(function () {
      if (!hasTerminals) this.skip();
    });

    it("are present", async () => {
      expect((await onTerminal({})).startsWith(RED)).to.be.true;
    });

    it("are followed by the link to the error's documentation", async () => {
      const lines = stripVTControlCharacters(await onTerminal({}))
        .trim()
        .split(/\r?\n/);
      expect(lines.at(-1)).to.match(/\/docs\/errors\.md#ARGUMENT_INVALID$/);
      expect(await onPipe({})).to.not.contain("errors.md");
    });

    it("are absent with NO_COLOR", async () => {
      const output = await onTerminal({ NO_COLOR: "1" });
      expect(output).to.match(/^ARGUMENT_INVALID: /);
      expect(stripVTControlCharacters(output)).to.equal(output);
    });
  });
});
