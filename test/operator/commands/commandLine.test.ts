import { expect } from "chai";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { serve } from "../../support/servers.ts";
import { closedAfterEach } from "../../support/support.ts";
import { COMMAND, environment, keyroot, keyrootJson, outcomeOf, startKeyroot } from "../../support/commandLine.ts";

describe("the command line", function () {
  this.timeout(60_000);
  const closing = closedAfterEach();

  it("lists its commands", async () => {
    const { code, stdout } = await keyroot([]);
    expect(code).to.equal(0);
    const verbs = [
      "build-file",
      "bundle",
      "check-file",
      "deploy",
      "publish",
      "sample-users",
      "stack",
      "status",
      "story",
      "verify",
    ];
    expect(Array.from(stdout.matchAll(/^ {2}keyroot (\S+)/gm), ([, verb]) => verb)).to.include.members(verbs);
  });

  describe("a wrong question", () => {
    it("ends with 2, a reason and nothing on standard output", async () => {
      const nowhere = ["--records", "nowhere", "--out", "nowhere"];
      const questions = [
        ["an-unknown-command"],
        ["status", "--an-unknown-option"],
        ["sample-users", "--count", "no number"],
        ["status", "an argument too many"],
        ["check-file"],
        ["sample-users", "--count", "0"],
        ["build-file", "--out", "nowhere"],
        ["build-file", "--records", "nowhere"],
        ["build-file", ...nowhere],
        ["build-file", ...nowhere, "--users-per-file", "0"],
        ["check-file", "nowhere"],
        ["status", "--rpc", "ftp://secret.example/key"],
        // Neither a stack that runs, nor an address.
        ["status"],
      ];
      const answers = await Promise.all(questions.map((args) => keyroot(args)));
      for (const [i, { code, stdout, stderr }] of answers.entries()) {
        const question = questions[i]?.join(" ");
        expect({ code, stdout }, question).to.deep.equal({ code: 2, stdout: "" });
        expect(stderr, question).to.match(/\S.*\n$/);
        // Neither a secret nor a stack trace.
        expect(stderr, question).to.not.match(/secret|^ +at /m);
      }
    });

    it("ends with 2 after options of Hardhat's own, too", async () => {
      const [node, cli, verb] = COMMAND;
      const args = [cli, "--network", "live", verb, "status", "--an-unknown-option"];
      expect(await outcomeOf(spawn(node, args, { env: environment({}) }))).to.include({ code: 2, stdout: "" });
    });

    it("is answered by one JSON object with --json, whoever refuses it", async () => {
      const questions = [["status", "--bogus"], ["check-file"], ["nonsense"], ["status"], ["check-file", "nowhere"]];
      for (const { code, json } of await Promise.all(questions.map((args) => keyrootJson(args)))) {
        expect(code).to.equal(2);
        expect(json.error).to.include.keys("code", "message");
      }
    });
  });

  describe("standard output", () => {
    it("may be closed early: what was printed stands, and nothing else is said", async () => {
      const child = startKeyroot(["sample-users", "--count", "1000000"]);
      const stderr = text(child.stderr);
      const [first] = (await once(child.stdout, "data")) as [Buffer];
      child.stdout.destroy();
      expect(String(first)).to.match(/^\{"userID":/);
      expect([await once(child, "exit"), await stderr]).to.deep.equal([[0, null], ""]);
    });

    it("may be closed before a command prints its outcome", async () => {
      const child = startKeyroot(["status"]);
      const stderr = text(child.stderr);
      child.stdout.destroy();
      expect(await once(child, "exit")).to.deep.equal([2, null]);
      expect(await stderr).to.match(/^ARGUMENT_INVALID: .*\n$/);
    });

    it("loses no line at Ctrl-C, where its reader is behind, and ends at once at the second where nobody reads", async () => {
      const work = `
        import { print } from "${import.meta.dirname}/../../../packages/operator/src/commands/command.ts";
        import { Progress } from "${import.meta.dirname}/../../../packages/operator/src/commands/progress.ts";
        new Progress(() => {
          print("the end");
          process.stderr.write("interrupted");
          setInterval(() => print("work that goes on"), 1);
        });
        for (let line = 0; line < 20_000; line++) print("x".repeat(99));
        process.kill(process.pid, "SIGINT");
        setTimeout(() => undefined, 60_000);`;
      const interrupted = async () => {
        const child = spawn(process.execPath, ["--input-type=module", "--eval", work], {
          stdio: ["ignore", "pipe", "pipe"],
        });
        const [said] = (await once(child.stderr, "data")) as [Buffer];
        expect(String(said)).to.equal("interrupted");
        return child;
      };

      const { code, stdout } = await outcomeOf(await interrupted());
      expect(code).to.equal(130);
      expect(stdout === `${"x".repeat(99)}\n`.repeat(20_000) + "the end\n").to.be.true;

      const unread = await interrupted();
      const ending = once(unread, "exit");
      unread.kill("SIGINT");
      expect(await ending).to.deep.equal([null, "SIGINT"]);
    });

    it("may be full: the command says so once, and ends with 3", async function () {
      // Only Linux has /dev/full, the disk without room.
      if (process.platform !== "linux") this.skip();
      const [node, ...cli] = COMMAND;
      await using full = await open("/dev/full", "w");
      const child = spawn(node, [...cli, "sample-users"], { stdio: ["ignore", full.fd, "pipe"], env: environment({}) });
      const { code, stderr } = await outcomeOf(child);
      expect(code).to.equal(3);
      expect(stderr).to.match(/^FILE_UNWRITABLE: .*ENOSPC.*\n$/);
    });
  });

  describe("a world that does not answer", () => {
    it("ends with 3, whatever the endpoint does, and shows no more of its address than the host", async () => {
      const html = closing(await serve((_, response) => response.end("<html>It works!</html>")));
      const broken = closing(await serve((_, response) => response.writeHead(500).end()));
      const endless = closing(
        await serve((_, response) => {
          const more = () => response.write("x".repeat(2 ** 16), more);
          more();
        }),
      );
      const quota = closing(
        await serve((_, response) => {
          const message = "over quota, see https://rpc.example/secret \u001b[31m";
          response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code: -32000, message } }));
        }),
      );
      const gone = await serve(() => undefined);
      await gone.close();
      const cases = [
        [html.url, "RPC_ANSWER_INVALID"],
        [broken.url, "RPC_ERROR"],
        [endless.url, "ANSWER_TOO_LARGE"],
        [quota.url, "RPC_ERROR"],
        [gone.url, "UNREACHABLE"],
      ] as const;
      const status = ["status", "--contract", "0x5FbDB2315678afecb367f032d93F642f64180aa3"];
      const answers = await Promise.all(
        cases.map(([url]) => keyrootJson([...status, "--rpc", `${url}/secret?key=secret`])),
      );
      for (const [i, { code, json }] of answers.entries()) {
        expect([code, json.error?.["code"]]).to.deep.equal([3, cases[i]?.[1]]);
        expect(JSON.stringify(json)).to.not.contain("secret");
        expect(json.error?.["message"]).to.not.contain("\u001b");
      }
    });
  });
});
