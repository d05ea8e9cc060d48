import { expect } from "chai";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { interruptUntilEnd } from "../../support/processes/commandLine.ts";

const COMMANDS = new URL("../../../packages/operator/src/commands/", import.meta.url).href;

type Child = ChildProcessByStdio<null, Readable, Readable>;

describe("a stop signal", () => {
  let child: Child;
  const start = (program: string, ...args: string[]) => {
    child = spawn(process.execPath, ["--input-type=module", "--eval", program, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
    });
  };
  const nextLine = async (stream: Readable = child.stdout) => String((await once(stream, "data"))[0]).trim();

  before(function () {
    // Windows ends a process that receives a signal without calling its handlers.
    if (process.platform === "win32") this.skip();
  });
  afterEach(() => {
    child.kill("SIGKILL");
  });

  describe("untilStopped", () => {
    const program = `
      import { untilStopped } from "${COMMANDS}stopSignals.ts";
      const stopped = untilStopped();
      const busy = setInterval(() => {}, 1000);
      console.log("up");
      console.log(await stopped);
      if (process.argv[1] === "finish") setTimeout(() => clearInterval(busy), 1000);
    `;

    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      it(`resolves at ${signal}, so that the process can finish its work`, async () => {
        start(program, "finish");
        expect(await nextLine()).to.equal("up");
        child.kill(signal);
        expect(await nextLine()).to.equal(signal);
        expect(await once(child, "exit")).to.deep.equal([0, null]);
      });
    }

    it("ignores a second signal that follows the first at once", async () => {
      start(program, "finish");
      expect(await nextLine()).to.equal("up");
      child.kill("SIGINT");
      expect(await nextLine()).to.equal("SIGINT");
      child.kill("SIGINT");
      expect(await once(child, "exit")).to.deep.equal([0, null]);
    });

    it("ends the process at a second signal that follows later", async () => {
      start(program, "hang");
      expect(await nextLine()).to.equal("up");
      child.kill("SIGINT");
      expect(await nextLine()).to.equal("SIGINT");
      const ending = once(child, "exit");
      await interruptUntilEnd(child);
      expect(await ending).to.deep.equal([130, null]);
    });
  });

  describe("Progress", () => {
    const program = `
      import { print } from "${COMMANDS}output.ts";
      import { Progress } from "${COMMANDS}progress.ts";
      new Progress({ onInterrupt: () => {
        print("the end");
        process.stderr.write("interrupted");
        setInterval(() => print("work that goes on"), 1);
      } });
      for (let line = 0; line < 20_000; line++) print("x".repeat(99));
      process.kill(process.pid, "SIGINT");
      setTimeout(() => undefined, 600_000);
    `;
    const interrupt = async () => {
      start(program);
      expect(await nextLine(child.stderr)).to.equal("interrupted");
    };

    for (const [what, signals] of [
      ["one signal", 1],
      ["two signals at once", 2],
    ] as const) {
      it(`loses no printed line after ${what}, even if the reader is slow`, async () => {
        await interrupt();
        if (signals === 2) child.kill("SIGINT");
        const [stdout, exit] = await Promise.all([text(child.stdout), once(child, "exit")]);
        expect(exit).to.deep.equal([130, null]);
        expect(stdout === `${"x".repeat(99)}\n`.repeat(20_000) + "the end\n").to.be.true;
      });
    }

    it("ends the process at a second signal if its output is not read", async () => {
      await interrupt();
      const ending = once(child, "exit");
      await interruptUntilEnd(child);
      expect(await ending).to.deep.equal([130, null]);
    });
  });
});
