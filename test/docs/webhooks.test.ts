import { expect } from "chai";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { blocksOf, readPage } from "../support/pages.ts";
import { freePort } from "../support/servers/ports.ts";
import { workerOf } from "../support/service/deliver.ts";
import { serviceOnPostgres } from "../support/service/support.ts";
import { temporaryFolder } from "../support/support.ts";

const page = await readPage("docs/webhooks.md");

describe("docs/webhooks.md", () => {
  const service = serviceOnPostgres({ webhooks: { allowPrivate: true } });
  const folder = temporaryFolder();

  it("contains a program that receives and verifies an event", async () => {
    const partner = await service.createPartner();
    const [example = ""] = blocksOf(page, "js");
    const program = example
      .replace("http://127.0.0.1:8547", service.url)
      .replaceAll("8600", String(await freePort()))
      // The program runs outside the repository, so its imports need full URLs.
      .replace(
        /from "(@keyroot\/client\/partner|standardwebhooks)"/g,
        (_, name: string) => `from "${import.meta.resolve(name)}"`,
      )
      .replace('"127.0.0.1");', '"127.0.0.1", () => console.log("listening"));');
    await writeFile(join(folder.path, "receiver.mjs"), program);
    const token = { bizID: partner.bizID, serverToken: partner.refreshToken };
    await writeFile(join(folder.path, "token.json"), JSON.stringify(token));
    const child = spawn(process.execPath, ["receiver.mjs"], {
      cwd: folder.path,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const worker = workerOf(service);
    try {
      const lines: string[] = [];
      for await (const line of createInterface(child.stdout)) {
        lines.push(line);
        if (line === "listening") {
          await service.createUser(partner, "eu-west-1");
          await worker.poll();
        }
        if (lines.join("\n").includes("refreshToken.created") && lines.join("\n").includes("user.created")) break;
      }
      expect(lines.join("\n")).to.match(/user\.created \{[^}]*user_id: '[a-z0-9]{32}'/);
    } finally {
      await worker.stop();
      const exited = once(child, "exit");
      child.kill();
      await exited;
    }
  });

  it("names every webhook operation and metric", async () => {
    const { paths } = JSON.parse(await readPage("docs/openapi.json")) as { paths: object };
    const operations = Object.keys(paths).filter((path) => path.includes("/webhooks/"));
    expect(operations).to.have.length(11);
    for (const path of operations) expect(page).to.include(path.split("/").at(-1));
    const { text } = await service.monitor("/metrics");
    for (const [, name = ""] of text.matchAll(/^# TYPE (keyroot_webhook\w+)/gm)) expect(page).to.include(`\`${name}\``);
  });
});
