import { expect } from "chai";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { randomHex } from "../../support/service/caller.ts";
import { ADMIN_TOKEN, serviceOnPostgres } from "../../support/service/support.ts";
import { CommandLine, program as keyroot } from "../../support/processes/commandLine.ts";
import { temporaryFolder } from "../../support/support.ts";

describe("the administration commands", () => {
  const service = serviceOnPostgres();
  const folder = temporaryFolder();

  const env = { KEYROOT_ADMIN_TOKEN: ADMIN_TOKEN };
  const run = (command: string, ...options: string[]) =>
    keyroot.json([command, "--service-url", service.url, ...options], { env });

  it("manage partners and server tokens", async () => {
    const name = `Company ${randomHex()}`;
    const { bizID, tokenID } = await service.createPartner(name);
    const ofPartner = ["--biz-id", bizID];
    expect(await run("list-partners", "--search", name)).to.deep.include({
      code: 0,
      json: await service.admin("/v1/admin/partners/get", { biz_id: bizID }),
    });
    expect((await run("suspend-partner", ...ofPartner)).json["suspended"]).to.be.a("number");
    expect((await run("resume-partner", ...ofPartner)).json["suspended"]).to.equal(null);
    expect((await run("limit-users", ...ofPartner, "--user-limit", "5")).json["user_limit"]).to.equal(5);
    expect((await run("limit-users", ...ofPartner, "--unlimited")).json["user_limit"]).to.equal(null);
    expect((await run("list-server-tokens", ...ofPartner)).json).to.include({ token_id: tokenID, revoked: null });
    const revoked = await run("revoke-server-token", "--token-id", tokenID);
    expect(revoked.json).to.include({ token_id: tokenID, biz_id: bizID });
    expect(revoked.json["revoked"]).to.be.a("number");
  });

  it("name the program by its path if npx did not start it", async () => {
    const installed = join(folder.path, "keyroot");
    const [node, cli = ""] = keyroot.words;
    await symlink(cli, installed);
    const create = ["create-partner", "--service-url", service.url, "--name", "Acme"];
    const hint = async (npm_command: string | undefined) => {
      const { stdout } = await new CommandLine("keyroot", [node, installed]).run(create, {
        env: { ...env, npm_command },
      });
      return /^To create a token for the partner's server: (.*) create-server-token /m.exec(stdout)?.[1];
    };
    expect(await hint(undefined)).to.equal(installed);
    expect(await hint("exec")).to.equal("npx keyroot");
  });

  it("print a filtered audit log as JSON lines or as text", async () => {
    const { bizID, tokenID, jwt: token } = await service.createPartner(`Company ${randomHex()}`);
    const hex = randomHex();
    await service.done("/v1/authdBizSrv/users/create", { user_id_hex: hex, region: "eu-west-1" }, { token });
    const list = (...options: string[]) =>
      keyroot.run(["list-audit-log", "--service-url", service.url, ...options], { env });
    const { code, stdout } = await list("--biz-id", bizID, "--json");
    const entries = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const actions = ["user.created", "serverToken.created", "partner.created"];
    expect([code, entries.map(({ action }) => action)]).to.deep.equal([0, actions]);
    expect(entries[0]?.["actor"]).to.deep.equal({ kind: "partner", id: tokenID, name: null, token_id: tokenID });
    const filter = ["--user-id", hex, "--actor-kind", "partner", "--actor-id", tokenID, "--action", "user.created"];
    const text = await list(...filter, "--since", "2026-01-01", "--until", "2999-01-01T00:00:00Z");
    expect(text.stdout).to.match(
      new RegExp(
        `^\\S+Z  user\\.created  by partner ${tokenID}  from 127\\.0\\.0\\.1  in \\S+  ${bizID}  \\w{32}  region="eu-west-1"\n$`,
      ),
    );
    expect(await list(...filter, "--until", "2026-01-01")).to.include({ code: 0, stdout: "" });
  });

  it("exit with code 2 if the service rejects the request", async () => {
    for (const [code, reason, ...words] of [
      ["FIELD_INVALID", "name must have at least 1 character.", "create-partner", "--name", ""],
      ["PARTNER_UNKNOWN", "There is no partner", "create-server-token", "--biz-id", "biz_none"],
    ] as const) {
      const [command, ...options] = words;
      const refused = await run(command, ...options);
      expect(refused, command).to.include({ code: 2, error: code });
      expect(refused.message, command).to.contain(reason);
    }
  });

  it("exit with code 2 if an option is missing or invalid", async () => {
    const incomplete = [
      ["suspend-partner"],
      ["limit-users", "--biz-id", "biz_1"],
      ["limit-users", "--biz-id", "biz_1", "--user-limit", "1", "--unlimited"],
      ["revoke-server-token"],
      ["list-audit-log", "--since", "2026-02"],
      ["list-audit-log", "--until", "2026-02-31T08:00:00"],
    ];
    for (const [command = "", ...options] of incomplete) {
      expect(await run(command, ...options), command).to.include({ code: 2, error: "ARGUMENT_INVALID" });
    }
  });
});
