import { expect } from "chai";
import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { program } from "../../support/processes/commandLine.ts";

/** Sets the window's title, clears the screen, colors text, and reverses its direction. */
const HOSTILE = "\u001b]0;owned\u0007\u001b[2J\u001b[31m\u009b31m\u202egnp.exe\u2066\u2028\u{e0001}\nforged line";
const TOKEN_ID = "2b1f0d3e-8f43-4c8b-9d0c-0a7f6a3f8a11";
const NUMBERS = { suspended: null, user_limit: null, users: 0, pending_keys: 0, published_keys: 0, server_tokens: 0 };
const PARTNER = { biz_id: "biz_x", name: HOSTILE, created: 1, ...NUMBERS };

/** Answers of a hostile service, and the command that prints each. */
const ANSWERS = [
  { path: "partners/list", args: ["list-partners"], body: { partners: [PARTNER], next: null } },
  {
    path: "serverTokens/list",
    args: ["list-server-tokens", "--biz-id", "biz_x"],
    body: { tokens: [{ token_id: TOKEN_ID, name: HOSTILE, created: 1, revoked: null, last_used: null }], next: null },
  },
  {
    path: "serverTokens/create",
    args: ["create-server-token", "--biz-id", "biz_x"],
    body: { token_id: TOKEN_ID, token: `krs_${HOSTILE}`, name: null, created: 1 },
  },
  {
    path: "staff/invite",
    args: ["invite", "--biz-id", "biz_x", "--name", "x"],
    body: { person_id: TOKEN_ID, name: "x", role: "reader", url: `https://x/${HOSTILE}`, expires: 1 },
  },
  { path: "partners/suspend", args: ["suspend-partner", "--biz-id", "biz_x"], body: PARTNER },
  {
    path: "partners/resume",
    args: ["resume-partner", "--biz-id", "biz_x"],
    body: { code: HOSTILE, detail: HOSTILE, status: 400 },
    status: 400,
  },
];

describe("a service's answers in a terminal", () => {
  let server: Server;
  let url: string;
  before(async () => {
    server = createServer((request, response) => {
      const found = ANSWERS.find(({ path }) => request.url === `/v1/admin/${path}`);
      const isCreation = /(?:create|invite)$/.test(request.url ?? "");
      request.resume().once("end", () => {
        response.writeHead(found?.status ?? (isCreation ? 201 : 200), { "Content-Type": "application/json" });
        response.end(JSON.stringify(found?.body ?? {}));
      });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => server.close());

  for (const { args } of ANSWERS)
    for (const format of ["text", "JSON"])
      it(`${args[0]} prints no control and no bidirectional characters as ${format}`, async () => {
        const env = { KEYROOT_ADMIN_TOKEN: "0123456789abcdef0123456789abcdefXYZ9" };
        const options = ["--service-url", url, ...(format === "JSON" ? ["--json"] : [])];
        const { stdout, stderr } = await program.run([...args, ...options], { env });
        const output = stdout + stderr;
        expect(output).to.not.match(/(?!\n)[\p{C}\p{Zl}\p{Zp}]/u);
        if (stdout !== "" && args[0]?.startsWith("list")) {
          expect(stdout.split("\n"), stdout).to.have.length(2);
          expect(stdout).to.contain("owned");
        }
        if (format === "JSON" && args[0] === "list-partners")
          expect(JSON.parse(stdout)).to.include({ biz_id: "biz_x", name: HOSTILE });
      });
});
