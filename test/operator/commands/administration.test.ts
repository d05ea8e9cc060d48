import { expect } from "chai";
import { join } from "node:path";
import { randomHex } from "../../support/service/caller.ts";
import { ADMIN_TOKEN, serviceOnPostgres } from "../../support/service/support.ts";
import { program as keyroot } from "../../support/commandLine.ts";
import { temporaryFolder } from "../../support/support.ts";

describe("the commands of administration", function () {
  this.timeout(120_000);
  const service = serviceOnPostgres();
  const folder = temporaryFolder();

  const run = (command: string, ...options: string[]) => {
    const env = { KEYROOT_ADMIN_TOKEN: ADMIN_TOKEN, KEYROOT_STACK_FILE: join(folder.path, "none.json") };
    return keyroot.json([command, "--service", service.url, ...options], { env });
  };

  it("list, suspend, resume and limit partners, and list and revoke server tokens", async () => {
    const name = `Company ${randomHex()}`;
    const { bizID, tokenID } = await service.createPartner(name);
    const ofPartner = ["--biz-id", bizID];
    expect(await run("list-partners", "--search", name)).to.deep.include({
      code: 0,
      json: await service.admin("/v1/admin/partners/get", { biz_id: bizID }),
    });
    expect((await run("suspend-partner", ...ofPartner)).json["suspended"]).to.be.a("number");
    expect((await run("resume-partner", ...ofPartner)).json["suspended"]).to.equal(null);
    expect((await run("limit-users", ...ofPartner, "--max", "5")).json["user_limit"]).to.equal(5);
    expect((await run("limit-users", ...ofPartner, "--unlimited")).json["user_limit"]).to.equal(null);
    expect((await run("list-server-tokens", ...ofPartner)).json).to.include({ token_id: tokenID, revoked: null });
    const revoked = await run("revoke-server-token", "--token-id", tokenID);
    expect(revoked.json).to.include({ token_id: tokenID, biz_id: bizID });
    expect(revoked.json["revoked"]).to.be.a("number");
  });

  it("require their options", async () => {
    const incomplete = [
      ["suspend-partner"],
      ["limit-users", "--biz-id", "biz_1"],
      ["limit-users", "--biz-id", "biz_1", "--max", "1", "--unlimited"],
      ["revoke-server-token"],
    ];
    for (const [command = "", ...options] of incomplete) {
      const { code, json } = await run(command, ...options);
      expect([code, (json.error as { code: string }).code], command).to.deep.equal([2, "ARGUMENT_INVALID"]);
    }
  });
});
