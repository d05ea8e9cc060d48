import { expect } from "chai";
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";

const program = `
  import { untilStopped } from ${JSON.stringify(new URL("../../../packages/operator/src/stack/untilStopped.ts", import.meta.url).href)};
  const stopped = untilStopped();
  const busy = setInterval(() => {}, 1000);
  console.log("up");
  console.log(await stopped);
  if (process.argv[1] === "finish") clearInterval(busy);
`;

describe("untilStopped", () => {
  let child: ChildProcessByStdio<null, Readable, null>;
  const start = async (then: "finish" | "hang") => {
    child = spawn(process.execPath, ["--input-type=module", "--eval", program, then], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    expect(await nextLine()).to.equal("up");
  };
  const nextLine = async () => String((await once(child.stdout, "data"))[0]).trim();

  before(function () {
    // Windows ends a process that is sent a signal, whatever it listens to.
    if (process.platform === "win32") this.skip();
  });
  afterEach(() => {
    child.kill("SIGKILL");
  });

  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    it(`resolves on ${signal} and lets the process finish its work`, async () => {
      await start("finish");
      child.kill(signal);
      expect(await nextLine()).to.equal(signal);
      expect(await once(child, "exit")).to.deep.equal([0, null]);
    });
  }

  it("ends the process at the second signal", async () => {
    await start("hang");
    child.kill("SIGINT");
    expect(await nextLine()).to.equal("SIGINT");
    child.kill("SIGINT");
    expect(await once(child, "exit")).to.deep.equal([130, null]);
  });
});
