import { expect } from "chai";
import { randomBytes } from "node:crypto";
import { userIDFromHex } from "../../../packages/keyroot/src/identity/userID.ts";
import { expectProblem, type TestPartner } from "../../support/service/caller.ts";
import { signInPerson, type TestPerson } from "../../support/service/dashboardPerson.ts";
import { serviceOnPostgres } from "../../support/service/support.ts";
import { isForReaders, type Operation } from "../../../packages/service/src/api/defineOperation.ts";
import { operations } from "../../../packages/service/src/serve/operations.ts";
import { z } from "zod";

describe("the dashboard's operations on users", () => {
  const log: string[] = [];
  const service = serviceOnPostgres({
    log,
    explorerUrl: "https://explorer.test/",
  });
  let partner: TestPartner;
  let admin: TestPerson;
  const newHex = () => randomBytes(20).toString("hex");

  before(async () => {
    partner = await service.createPartner("Acme");
    admin = await signInPerson(service, partner.bizID, "Ada");
  });

  it("create the same user as the partner's API", async () => {
    const hex = newHex();
    const body = { user_id_hex: hex, region: "eu-west-1" };
    const created = await admin.change("/v1/authdBizSrv/users/create", body);
    expect(created.body).to.include({ user_id: userIDFromHex(hex), region: "eu-west-1", status: 201 });
    const seen = await service.done("/v1/authdBizSrv/users/get", { user_id_hex: hex }, { token: partner.jwt });
    expect(seen).to.include({ user_id: userIDFromHex(hex), region: "eu-west-1" });
    expect((await admin.change("/v1/authdBizSrv/users/create", body)).body).to.deep.equal(created.body);
    const line = log.find((entry) => entry.includes('"user.created"') && entry.includes(userIDFromHex(hex)));
    expect(line).to.contain('"name":"Ada"').and.contain(admin.personID);
  });

  it("hide a user's salt and bucket from readers", async () => {
    const { hex, userID } = await service.createUser(partner);
    const reader = await signInPerson(service, partner.bizID, "Rob", { role: "reader" });
    const fields = (schema: z.ZodType) => JSON.stringify(z.toJSONSchema(schema, { io: "output" }));
    const readable = operations.filter(
      (operation: Operation) => operation.callers.includes("partnerStaff") && isForReaders(operation),
    );
    expect(readable).to.have.length.above(10);
    for (const { path, answer } of readable) expect(fields(answer), path).to.not.match(/"(?:salt|bucket)"/);
    const { body } = await reader.call("/v1/dashboard/users/get", { user_id_hex: hex });
    expect(body).to.have.all.keys("user_id", "region", "created", "deactivated").and.include({ user_id: userID });
    for (const path of ["get", "list"])
      expectProblem(await reader.call(`/v1/authdBizSrv/users/${path}`, { user_id_hex: hex }), [
        401,
        "ACCESS_TOKEN_MISSING",
      ]);
  });

  it("return a link to the configured explorer", async () => {
    expect((await admin.call("/v1/dashboard/session/get")).body).to.include({ explorer_url: "https://explorer.test/" });
  });
});
