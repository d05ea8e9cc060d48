import { expect } from "chai";
import { gzipSync } from "node:zlib";
import { randomHex, type TestPartner } from "../../support/service/caller.ts";
import { serviceOnPostgres } from "../../support/service/support.ts";

const JSON_TYPE = { "Content-Type": "application/json" };
const LIST = "/v1/authdBizSrv/users/list";
const GET = "/v1/authdBizSrv/users/get";

describe("the body of a request", () => {
  const service = serviceOnPostgres();
  let partner: TestPartner;
  let hex: string;
  before(async () => {
    partner = await service.createPartner();
    ({ hex } = await service.createUser(partner));
  });
  const send = async (
    path: string,
    body: string | Uint8Array<ArrayBuffer> | undefined,
    headers: object = JSON_TYPE,
    method = "POST",
  ) => {
    const response = await fetch(`${service.url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${partner.jwt}`, ...headers },
      ...(body !== undefined && { body }),
    });
    const problem = (await response.json()) as { code?: string; detail?: string };
    return { status: response.status, headers: response.headers, ...problem };
  };

  for (const [what, path, body, headers] of [
    ["null for an absent optional field", LIST, () => '{"limit":2,"after":null}'],
    ["null for the other form of the id", GET, () => `{"user_id_hex":"${hex}","user_id":null}`],
    ["2.0 for a whole number", LIST, () => '{"limit":2.0}'],
    ["2e0 for a whole number", LIST, () => '{"limit":2e0}'],
    ["a line break at the end", LIST, () => '{"limit":2}\r\n'],
    ["a byte order mark", LIST, () => '\ufeff{"limit":2}'],
    ["charset=utf8", LIST, () => "{}", { "Content-Type": "application/json; charset=utf8" }],
    ["no content", LIST, () => ""],
    ["no content and no Content-Type", LIST, () => undefined, {}],
  ] as const)
    it(`may have ${what}`, async () => {
      const answer = await send(path, body(), headers);
      expect(answer.status, answer.detail).to.equal(200);
    });

  for (const [what, body, code, detail] of [
    ["null in a required field", `{"user_id_hex":"${randomHex()}","region":null}`, "REGION_UNKNOWN", /region/],
    ["1.5 for a whole number", '{"limit":1.5}', "FIELD_INVALID", /limit/],
    ["a repeated key", '{"limit":1,"li\\u006dit":2}', "JSON_DUPLICATE_KEY", /repeated/],
    [
      "a repeated key after text with braces",
      '{"after":"{\\"limit\\":1}","limit":1,"limit":2}',
      "JSON_DUPLICATE_KEY",
      /./,
    ],
    ["the repeated key __proto__", '{"__proto__":1,"__proto__":2}', "JSON_DUPLICATE_KEY", /./],
    ["deep nesting", "[".repeat(8000) + "]".repeat(8000), "JSON_TOO_DEEP", /nested/],
    ["an array", "[]", "FIELD_INVALID", /body must be of type object/],
    ["null", "null", "FIELD_INVALID", /body must be of type object/],
  ] as const)
    it(`is rejected with ${what}`, async () => {
      const path = what === "null in a required field" ? "/v1/authdBizSrv/users/create" : LIST;
      const answer = await send(path, body);
      expect(answer).to.include({ status: 400, code });
      expect(answer.detail).to.match(detail);
    });

  it("is rejected if it is compressed, with the accepted encoding", async () => {
    const answer = await send(LIST, new Uint8Array(gzipSync("{}")), { ...JSON_TYPE, "Content-Encoding": "gzip" });
    expect(answer).to.include({ status: 415, code: "CONTENT_TYPE" });
    expect(answer.detail).to.contain("compressed");
    expect(answer.headers.get("accept-encoding")).to.equal("identity");
  });

  it("is not examined for an unknown path or a wrong method", async () => {
    for (const headers of [JSON_TYPE, { "Content-Type": "text/plain" }, { ...JSON_TYPE, "Content-Encoding": "gzip" }]) {
      expect(await send("/v1/authdBizSrv/users/lost", "{", headers)).to.include({
        status: 404,
        code: "OPERATION_UNKNOWN",
      });
      const wrong = await send(LIST, "{", headers, "PUT");
      expect(wrong).to.include({ status: 405, code: "METHOD_NOT_ALLOWED" });
      expect(wrong.headers.get("allow")).to.equal("POST");
    }
  });
});

describe("users/create", () => {
  const service = serviceOnPostgres();

  it("names the region of the partner's own user, and says that a user is deactivated", async () => {
    const partner = await service.createPartner();
    const { hex } = await service.createUser(partner);
    const create = (region: string, token = partner.jwt) =>
      service.post("/v1/authdBizSrv/users/create", { user_id_hex: hex, region }, { token });
    const elsewhere = await create("eu-west-1");
    expect(elsewhere.body).to.include({ status: 409, code: "USER_ID_TAKEN" });
    expect(elsewhere.body["detail"]).to.contain("us-west-2");
    const other = await create("eu-west-1", (await service.createPartner()).jwt);
    expect(other.body["detail"]).to.not.contain("us-west-2");
    await service.done("/v1/authdBizSrv/users/deactivate", { user_id_hex: hex }, { token: partner.jwt });
    expect((await create("us-west-2")).body).to.include({ status: 403, code: "USER_DEACTIVATED" });
  });
});
