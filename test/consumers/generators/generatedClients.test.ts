import { expect } from "chai";
import { build } from "esbuild";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { userIDFromHex } from "../../../packages/keyroot/src/identity/userID.ts";
import { randomHex } from "../../support/service/caller.ts";
import { serviceOnPostgres } from "../../support/service/support.ts";
import { describeIfNamed } from "../../support/named.ts";
import { installLocked } from "../../support/packages/installLocked.ts";
import { ROOT, run } from "../../support/packages/installPackages.ts";
import { type ClientInput, type ClientOutcome, type Generator, GENERATORS } from "./clients.ts";

const COMPILER_OPTIONS = {
  // TypeScript's own declarations are correct, and take most of the time.
  skipDefaultLibCheck: true,
  ...{ strict: true, noUncheckedIndexedAccess: true, skipLibCheck: false, noEmit: true, types: [] },
  ...{ target: "es2022", lib: ["es2022", "dom", "dom.iterable"], module: "esnext", moduleResolution: "bundler" },
};

describeIfNamed(import.meta.filename)("the OpenAPI description", () => {
  const service = serviceOnPostgres();
  let tools: string;

  before("installs the generators", async () => {
    tools = await installLocked(import.meta.dirname, "generators");
  });

  /** Generates a client in a new folder from the description that the service serves. */
  async function generate(name: string, { command, files = {}, program }: Generator, input: ClientInput) {
    const folder = join(tools, "generated", name.replaceAll(/\W/g, "-"));
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    const description = await (await fetch(`${service.url}/openapi.json`)).text();
    const source = `declare const input: Record<${Object.keys(input)
      .map((key) => `"${key}"`)
      .join(" | ")}, string>;\ndeclare function print(outcome: object): void;\n${program}`;
    const written = {
      ...files,
      "openapi.json": description,
      "program.ts": source,
      "tsconfig.json": JSON.stringify({ compilerOptions: COMPILER_OPTIONS, files: ["program.ts"] }),
    };
    for (const [file, text] of Object.entries(written))
      await writeFile(join(folder, file), text.replaceAll("SERVICE_URL", service.url));
    const [script = "", ...args] = command;
    await run(process.execPath, [join(tools, "node_modules", script), ...args], { cwd: folder });
    return folder;
  }

  for (const [name, generator] of Object.entries(GENERATORS))
    describe(`gives a client with ${name}`, () => {
      let folder: string;
      let input: ClientInput;
      let endpointID: unknown;

      before("generates the client", async () => {
        const partner = await service.createPartner();
        const webhook = { url: "https://receiver.example/keyroot" };
        const added = await service.done("/v1/authdBizSrv/webhooks/create", webhook, { token: partner.jwt });
        endpointID = added["endpoint_id"];
        const { bizID, refreshToken: serverToken } = partner;
        input = { url: service.url, bizID, serverToken, userIDHex: randomHex() };
        folder = await generate(name, generator, input);
      });

      it("compiles under strict rules, with types for users, keys, events, webhooks and errors", async () => {
        await run(process.execPath, [join(ROOT, "node_modules/typescript-7/bin/tsc"), "--project", folder]);
      });

      it("creates a user, and reads users, events, webhooks and errors", async () => {
        const outfile = join(folder, "program.mjs");
        const banner = { js: "const print = (outcome) => console.log(JSON.stringify(outcome));" };
        const bundled = { bundle: true, platform: "node", format: "esm", outfile, banner } as const;
        await build({
          ...bundled,
          entryPoints: [join(folder, "program.ts")],
          define: { input: JSON.stringify(input) },
        });
        const { stdout } = await run(process.execPath, [outfile]);
        const outcome = JSON.parse(stdout) as ClientOutcome;
        expect(outcome.created).to.equal(201);
        expect(outcome.user).to.include({ user_id: userIDFromHex(input.userIDHex), deactivated: null });
        expect(outcome.events.map(({ type }) => type)).to.deep.equal(["user.created"]);
        expect(outcome.webhooks.map(({ endpoint_id }) => endpoint_id)).to.deep.equal([endpointID]);
        expect(outcome.code).to.equal("USER_UNKNOWN");
      });
    });
});
