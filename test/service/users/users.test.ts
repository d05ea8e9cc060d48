import { expect } from "chai";
import { sql } from "drizzle-orm";
import { rowsOf } from "../../../packages/service/src/api/database/database.ts";
import { userIDFromHex } from "../../../packages/keyroot/src/identity/userID.ts";
import { describeOnEachDatabase } from "../../support/service/support.ts";
import { expectProblem, pagesOf, randomHex, type TestPartner } from "../../support/service/caller.ts";

const CREATE = "/v1/authdBizSrv/users/create";
const GET = "/v1/authdBizSrv/users/get";
const LIST = "/v1/authdBizSrv/users/list";

describeOnEachDatabase("shadow users", (service) => {
  let partner: TestPartner;
  let other: TestPartner;
  const create = (body: unknown, { jwt }: TestPartner = partner) => service.post(CREATE, body, { token: jwt });
  const newUser = async (region = "us-west-2", hex = randomHex(), by = partner) => {
    const { status, body } = await create({ user_id_hex: hex, region }, by);
    expect(status).to.equal(201);
    return { hex, body };
  };

  before(async () => {
    [partner, other] = await Promise.all([service.createPartner(), service.createPartner()]);
  });

  describe("create", () => {
    for (const region of ["us-west-2", "eu-west-1"]) {
      it(`returns exactly the specified fields in ${region}`, async () => {
        const hex = randomHex();
        const before = Date.now();
        const { status, body, headers } = await create({ user_id_hex: hex, region });
        const after = Date.now();
        expect(status).to.equal(201);
        expect(headers.get("content-type")).to.match(/^application\/json/);
        expect(Object.keys(body).sort()).to.deep.equal(
          ["bucket", "created", "region", "salt", "stage", "status", "user_id"], // The response has no other fields.
        );
        const userID = userIDFromHex(hex);
        expect(body).to.include({ status: 201, user_id: userID, region, stage: "test" });
        expect(body["bucket"]).to.equal(`keyroot-test-${region}-${userID}`);
        expect(body["salt"]).to.match(/^[0-9a-f]{32}$/);
        expect(body["created"]).to.be.within(before, after);
      });
    }

    it("stores a user and its id in one transaction", async () => {
      const { hex } = await newUser();
      const userID = userIDFromHex(hex);
      const { home } = service.databases;
      const transactions = sql`select user_ids.xmin::text as claimed, users.xmin::text as inserted
        from user_ids join users using (user_id) where user_id = ${userID}`;
      const [row] = rowsOf(await home.execute(transactions));
      expect(row?.["claimed"]).to.match(/^\d+$/);
      expect(row?.["inserted"]).to.equal(row?.["claimed"]);
    });

    it("returns a bucket name that is valid in S3", async () => {
      const { body } = await newUser("eu-west-1");
      expect(body["bucket"]).to.match(/^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/);
    });

    it("returns a different salt for each user", async () => {
      const [a, b] = await Promise.all([newUser(), newUser()]);
      expect(a.body["salt"]).not.to.equal(b.body["salt"]);
    });

    it("returns the same response to a repeated request", async () => {
      const body = { user_id_hex: randomHex(), region: "eu-west-1" };
      const first = await create(body);
      service.ahead = 60_000;
      const again = await create(body);
      expect([again.status, again.text]).to.deep.equal([201, first.text]);
    });

    it("treats uppercase and lowercase hex as the same id", async () => {
      const hex = `abcdef${randomHex().slice(6)}`;
      const lower = await create({ user_id_hex: hex, region: "us-west-2" });
      const upper = await create({ user_id_hex: hex.toUpperCase(), region: "us-west-2" });
      const mixed = await create({ user_id_hex: `AbCdEf${hex.slice(6)}`, region: "us-west-2" });
      expect(lower.status).to.equal(201);
      expect([upper.text, mixed.text]).to.deep.equal([lower.text, lower.text]);
    });

    it("rejects other partners' ids in the same way in each region", async () => {
      const hex = randomHex();
      await newUser("us-west-2", hex);
      const answers = [
        await create({ user_id_hex: hex, region: "us-west-2" }, other),
        await create({ user_id_hex: hex, region: "eu-west-1" }, other),
      ];
      for (const answer of answers) expectProblem(answer, [409, "USER_ID_TAKEN"]);
      const texts = answers.map(({ text, body }) => text.replace(body["request_id"] as string, ""));
      expect(new Set(texts).size).to.equal(1);
      expect((await create({ user_id_hex: hex, region: "us-west-2" })).status).to.equal(201);
    });

    const refusals: [what: string, body: unknown, code: string, detail?: RegExp][] = [
      ["39 digits", { user_id_hex: "a".repeat(39), region: "us-west-2" }, "USER_ID_INVALID", /40 hex digits/],
      ["41 digits", { user_id_hex: "a".repeat(41), region: "us-west-2" }, "USER_ID_INVALID"],
      ["a character that is not a hex digit", { user_id_hex: "g".repeat(40), region: "us-west-2" }, "USER_ID_INVALID"],
      ["a line break after the digits", { user_id_hex: `${"a".repeat(40)}\n`, region: "us-west-2" }, "USER_ID_INVALID"],
      ["0x before the digits", { user_id_hex: `0x${"a".repeat(38)}`, region: "us-west-2" }, "USER_ID_INVALID"],
      ["a number as id", { user_id_hex: 1, region: "us-west-2" }, "USER_ID_INVALID"],
      [
        "an unknown region",
        { user_id_hex: randomHex(), region: "us-east-1" },
        "REGION_UNKNOWN",
        /us-west-2 or eu-west-1/,
      ],
      ["a region in upper case", { user_id_hex: randomHex(), region: "US-WEST-2" }, "REGION_UNKNOWN"],
      ["an unknown field", { user_id_hex: randomHex(), region: "us-west-2", name: "x" }, "FIELD_UNKNOWN", /name/],
      ["no region", { user_id_hex: randomHex() }, "FIELD_MISSING", /region/],
      ["no id", { region: "us-west-2" }, "FIELD_MISSING", /user_id_hex/],
      ["an array", [], "FIELD_INVALID"],
      ["a text", '"x"', "FIELD_INVALID"],
      ["malformed JSON", "{", "JSON_INVALID"],
      ["no body", "", "FIELD_MISSING"],
      [
        "a duplicate key",
        `{"region":"us-west-2","region":"eu-west-1","user_id_hex":"${randomHex()}"}`,
        "JSON_DUPLICATE_KEY",
      ],
      ["null", `{"region":null,"user_id_hex":"${randomHex()}"}`, "REGION_UNKNOWN"],
      ["deep nesting", `{"region":[[[[]]]],"user_id_hex":"${randomHex()}"}`, "JSON_TOO_DEEP"],
    ];
    for (const [what, body, code, detail] of refusals) {
      it(`rejects ${what} with ${code}`, async () => {
        const answer = await create(body);
        expectProblem(answer, [400, code]);
        if (detail) expect(answer.body["detail"]).to.match(detail);
      });
    }

    it("names every invalid field", async () => {
      const { body } = await create({ user_id_hex: "x", region: "y", more: 1 });
      expect((body["errors"] as { field: string }[]).map(({ field }) => field).sort()).to.deep.equal([
        "more",
        "region",
        "user_id_hex",
      ]);
    });

    it("rejects a body that is not declared as JSON in UTF-8", async () => {
      const body = { user_id_hex: randomHex(), region: "us-west-2" };
      for (const type of [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/json5",
        "application/json; charset=latin1",
      ])
        expectProblem(await service.post(CREATE, body, { token: partner.jwt, headers: { "Content-Type": type } }), [
          415,
          "CONTENT_TYPE",
        ]);
      const headers = { "Content-Type": "application/json; charset=UTF-8" };
      expect((await service.post(CREATE, body, { token: partner.jwt, headers })).status).to.equal(201);
    });

    it("rejects a body above the size limit", async () => {
      expectProblem(await create({ user_id_hex: "a".repeat(17_000), region: "us-west-2" }), [413, "BODY_TOO_LARGE"]);
    });
  });

  describe("get", () => {
    it("returns the fields of create and the time of deactivation", async () => {
      const { hex, body } = await newUser();
      const got = await service.done(GET, { user_id_hex: hex.toUpperCase() }, { token: partner.jwt });
      expect({ status: 201, ...got }).to.deep.equal({ ...body, deactivated: null });
      expect(got).not.to.have.property("status");
    });

    it("returns the same error for unknown users and other partners' users", async () => {
      const { hex } = await newUser();
      const answers = [
        await service.post(GET, { user_id_hex: hex }, { token: other.jwt }),
        await service.post(GET, { user_id_hex: randomHex() }, { token: other.jwt }),
      ];
      for (const answer of answers) expectProblem(answer, [404, "USER_UNKNOWN"]);
      const [a, b] = answers.map(({ text, body }) => text.replace(body["request_id"] as string, ""));
      expect(a).to.equal(b);
    });
  });

  describe("list", () => {
    let company: TestPartner;
    let all: string[];
    const list = (body: unknown) => service.post(LIST, body, { token: company.jwt });

    before(async () => {
      company = await service.createPartner();
      const regions = ["us-west-2", "eu-west-1"] as const;
      const users = await Promise.all(Array.from({ length: 7 }, (_, i) => newUser(regions[i % 2], undefined, company)));
      all = users
        .map(({ body }) => body["user_id"] as string)
        .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    });

    it("returns only the partner's users, in the order of their ids", async () => {
      const { body } = await list({});
      const users = body["users"] as Record<string, unknown>[];
      expect(Object.keys(body).sort()).to.deep.equal(["next", "users"]);
      expect(new Set(users.map(({ user_id }) => user_id))).to.deep.equal(new Set(all));
      expect(body["next"]).to.equal(null);
      for (const user of users) {
        const fields = ["bucket", "created", "deactivated", "region", "salt", "stage", "user_id"];
        expect(Object.keys(user).sort()).to.deep.equal(fields);
      }
    });

    for (const limit of [1, 2, 3, 7, 8]) {
      it(`returns each user once in pages of ${limit}`, async () => {
        const seen: string[] = [];
        for await (const page of pagesOf(async (after) => (await list({ limit, ...after })).body)) {
          const users = page["users"] as { user_id: string }[];
          expect(users.length).to.be.at.most(limit);
          seen.push(...users.map(({ user_id }) => user_id));
          expect(seen.length).to.be.at.most(all.length);
        }
        expect(seen).to.deep.equal(all);
      });
    }

    it("includes users who were created between two pages", async () => {
      const { body } = await list({ limit: 3 });
      const first = (body["users"] as { user_id: string }[]).map(({ user_id }) => user_id);
      const fresh = (await newUser("us-west-2", "f".repeat(8) + randomHex().slice(8), company)).body[
        "user_id"
      ] as string;
      const rest = await list({ after: body["next"] });
      const seen = [...first, ...(rest.body["users"] as { user_id: string }[]).map(({ user_id }) => user_id)];
      expect(seen).to.include.members(all);
      expect(new Set(seen).size).to.equal(seen.length);
      all = [...all, fresh].sort();
    });

    it("skips erased users without shortening a page", async () => {
      const [first, ...others] = all;
      const last = others.pop();
      for (const user_id of others)
        await service.done("/v1/authdBizSrv/users/erase", { user_id }, { token: company.jwt });
      const { body } = await list({ limit: 1 });
      expect((body["users"] as { user_id: string }[]).map(({ user_id }) => user_id)).to.deep.equal([first]);
      expect(body["next"]).to.equal(first);
      const rest = (await list({ limit: 1, after: first })).body;
      expect((rest["users"] as { user_id: string }[]).map(({ user_id }) => user_id)).to.deep.equal([last]);
      expect(rest["next"]).to.equal(null);
    });

    for (const limit of [0, 1001, "5"]) {
      it(`rejects the limit ${JSON.stringify(limit)}`, async () => {
        expectProblem(await list({ limit }), [400, "FIELD_INVALID"]);
      });
    }

    it("rejects a value of after that is not a user id", async () => {
      expectProblem(await list({ after: "x" }), [400, "USER_ID_INVALID"]);
    });
  });
});
