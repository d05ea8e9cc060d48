import { expect } from "chai";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { ROOT } from "../../scripts/test/root.ts";
import { temporaryFolder } from "../support/support.ts";

describe("server of an example", () => {
  const folder = temporaryFolder();

  describe("on a port in use", () => {
    const SETTINGS = { "react-native": "serverUrl of config.js", "vite-react": "sessionUrl of src/config.ts" };
    for (const [example, setting] of Object.entries(SETTINGS)) {
      it(`says how to set another one in ${example}`, async () => {
        await using taken = createServer().listen(0, "127.0.0.1");
        await once(taken, "listening");
        const { port } = taken.address() as AddressInfo;
        const users = join(folder.path, "users.jsonl");
        await writeFile(users, '{"userID":"a","pubKey":"b"}\n');
        const env = {
          ...process.env,
          ...{ PORT: String(port), SERVICE_URL: "http://127.0.0.1:1", BIZ_ID: "biz_a", SERVER_TOKEN: "krs_a" },
        };
        const child = spawn(process.execPath, [join(ROOT, "examples", example, "server.mjs"), users], { env });
        const [said] = await Promise.all([text(child.stderr), once(child, "exit")]);
        expect(said).to.equal(`Port ${port} is in use. Set another one in the variable PORT and in ${setting}.\n`);
        expect(child.exitCode).to.equal(1);
      });
    }
  });
});
