import { expect } from "chai";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { COMMANDS, groupsWith } from "../../../packages/operator/src/commands/commandTable.ts";
import * as service from "../../../packages/service/src/commands/index.ts";
import { goneUrl, serve } from "../../support/servers/servers.ts";
import { closedAfterEach } from "../../support/support.ts";
import { environment, hardhat, outcomeOf, program } from "../../support/processes/commandLine.ts";

/** The commands of both packages that do not need Hardhat. */
const NAMES = Object.keys({ ...COMMANDS, ...service.COMMANDS });

for (const keyroot of [program, hardhat]) {
  describe(`the program ${keyroot.program}`, () => {
    const closing = closedAfterEach();

    it("lists all its commands", async () => {
      const { code, stdout } = await keyroot.run([]);
      expect(code).to.equal(0);
      const pattern = keyroot === hardhat ? /^ {2}keyroot (\S+)/gm : /^ {2}([a-z]\S+) /gm;
      const listed = Array.from(stdout.matchAll(pattern), ([, name]) => name);
      const more = keyroot === hardhat ? ["stack", "demo"] : [];
      expect(listed).to.include.members([...NAMES, ...more]);
      expect(listed.filter((name) => name !== "help")).to.have.lengthOf(NAMES.length + more.length);
      if (keyroot === hardhat) return;
      const headings = Array.from(stdout.matchAll(/^(.+):$/gm), ([, heading]) => heading);
      expect(headings.slice(1)).to.deep.equal(Object.keys(groupsWith(service)));
    });

    describe("with invalid arguments", () => {
      it("exits with code 2, and prints an error to standard error", async () => {
        const nowhere = ["--records", "nowhere", "--files", "nowhere"];
        const invalid = [
          ["an-unknown-command"],
          ["status", "--an-unknown-option"],
          ["status", "--rpc"],
          ["status", "--rpc", "http://127.0.0.1:1", "--rpc", "http://127.0.0.1:2"],
          ["sample-users", "--count", "no number"],
          ["status", "an argument too many"],
          ["check-file"],
          ["sample-users", "--count", "0"],
          ["build-file", "--files", "nowhere"],
          ["build-file", "--records", "nowhere"],
          ["build-file", ...nowhere],
          ["build-file", ...nowhere, "--users-per-file", "0"],
          ["check-file", "nowhere"],
          ["status", "--rpc", "ftp://secret.example/key", "--contract", `0x${"12".repeat(20)}`],
          // There is no running stack and no address.
          ["status"],
        ];
        const results = await Promise.all(invalid.map((args) => keyroot.run(args)));
        for (const [i, { code, stdout, stderr }] of results.entries()) {
          const args = invalid[i]?.join(" ");
          expect({ code, stdout }, args).to.deep.equal({ code: 2, stdout: "" });
          expect(stderr, args).to.match(/\S.*\n$/);
          // The output contains no secret and no stack trace.
          expect(stderr, args).to.not.match(/secret|^ +at /m);
        }
      });

      it("suggests the option with the words, or with similar letters, of an unknown option", async function () {
        // Hardhat itself rejects unknown options.
        if (keyroot === hardhat) this.skip();
        for (const [args, suggested] of [
          [["verify", "--public-key", "x"], "(Did you mean --expected-public-key?)"],
          [["watch", "--expected-public-key", "x"], "(Did you mean --public-key?)"],
          [["verify", "--key=x"], "(Did you mean --expected-public-key or --key-type?)"],
          [["status", "--contrakt"], "(Did you mean --contract?)"],
        ] as const)
          expect((await keyroot.run(args)).stderr).to.contain(suggested);
        expect((await keyroot.run(["status", "--bogus"])).stderr).to.not.contain("Did you mean");
      });

      it("prints one JSON object with --json", async () => {
        const invalid = [["status", "--bogus"], ["check-file"], ["nonsense"], ["status"], ["check-file", "nowhere"]];
        for (const { code, json } of await Promise.all(invalid.map((args) => keyroot.json(args)))) {
          expect(code).to.equal(2);
          expect(json.error).to.include.keys("code", "message");
        }
      });
    });

    describe("with a closed or full standard output", () => {
      it("ends without a message if standard output is closed early", async () => {
        const child = keyroot.start(["sample-users", "--count", "1000000"]);
        const stderr = text(child.stderr);
        const [first] = (await once(child.stdout, "data")) as [Buffer];
        child.stdout.destroy();
        expect(String(first)).to.match(/^\{"userID":/);
        expect([await once(child, "exit"), await stderr]).to.deep.equal([[0, null], ""]);
      });

      it("prints its error although standard output is closed", async () => {
        const child = keyroot.start(["status"]);
        const stderr = text(child.stderr);
        child.stdout.destroy();
        expect(await once(child, "exit")).to.deep.equal([2, null]);
        expect(await stderr).to.match(/^ARGUMENT_INVALID: .*\n$/);
      });

      it("exits with code 3 if standard output is full", async function () {
        // Only Linux has /dev/full, which behaves like a full disk.
        if (process.platform !== "linux") this.skip();
        const [node, ...cli] = keyroot.words;
        await using full = await open("/dev/full", "w");
        const child = spawn(node, [...cli, "sample-users"], {
          stdio: ["ignore", full.fd, "pipe"],
          env: environment({}),
        });
        const { code, stderr } = await outcomeOf(child);
        expect(code).to.equal(3);
        expect(stderr).to.match(/^FILE_UNWRITABLE: .*ENOSPC.*\n$/);
      });
    });

    describe("with an endpoint that fails", () => {
      it("exits with code 3, and does not print the secret in the endpoint's URL", async () => {
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
        const cases = [
          [html.url, "RPC_ANSWER_INVALID"],
          [broken.url, "RPC_ERROR"],
          [endless.url, "ANSWER_TOO_LARGE"],
          [quota.url, "RPC_ERROR"],
          [await goneUrl(), "UNREACHABLE"],
        ] as const;
        const status = ["status", "--contract", "0x5FbDB2315678afecb367f032d93F642f64180aa3"];
        const answers = await Promise.all(
          cases.map(([url]) => keyroot.json([...status, "--rpc", `${url}/secret?key=secret`])),
        );
        for (const [i, { code, json, error, message }] of answers.entries()) {
          expect([code, error]).to.deep.equal([3, cases[i]?.[1]]);
          expect(JSON.stringify(json)).to.not.contain("secret");
          expect(message).to.not.contain("\u001b");
        }
        // The message names the option instead of giving general advice.
        expect(answers.at(-1)?.message).to.match(/ failed[^.]*\. Check the URL in --rpc, [^.]+\.$/);
        const [given, variable] = await Promise.all([
          keyroot.json([...status, "--rpc", await goneUrl()]),
          keyroot.json(status, { env: { KEYROOT_RPC_URL: `${await goneUrl()}/secret` } }),
        ]);
        expect(given.message).to.contain("Check the URL in --rpc,");
        expect(variable.message).to.contain("Check the URL in KEYROOT_RPC_URL,").and.to.not.contain("secret");
      });
    });
  });
}
