import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { expect } from "chai";
import fc from "fast-check";
import { anyBody } from "../../support/service/anyBody.ts";
import { never, sendRaw } from "../../support/support.ts";
import { type Answer, expectProblem } from "../../support/service/caller.ts";
import {
  goodBody,
  type JsonSchema,
  createTenant,
  type Operation,
  OPERATIONS,
  type Tenant,
} from "../../support/service/operations.ts";
import { ADMIN_TOKEN, describeOnEachDatabase, serviceOnPostgres } from "../../support/service/support.ts";
import { testAll } from "../../support/testSize.ts";

/** Number of batches per operation. The requests in a batch are concurrent. */
const BATCHES = testAll ? 8 : 3;
const BATCH_SIZE = 10;

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const validators = new Map<JsonSchema, ValidateFunction>();

describeOnEachDatabase(
  "the API",
  (service) => {
    let tenant: Tenant;
    before(async () => {
      tenant = await createTenant(service);
    });

    describe("with request bodies of any form", () => {
      for (const operation of OPERATIONS) {
        it(`responds without an internal error to ${operation.path}`, async () => {
          const token = tenant.tokens[operation.tag];
          const carried = token === undefined ? {} : { token };
          const statuses = new Set<number>();
          const good = goodBody(operation, tenant);
          const bodies = fc.array(anyBody(operation, good), {
            minLength: BATCH_SIZE,
            maxLength: BATCH_SIZE,
          });
          const property = fc.asyncProperty(bodies, async (batch) => {
            await Promise.all(
              batch.map(async (body) => {
                const answer = await service.post(operation.path, body, carried);
                check(operation, answer, body, tenant);
                statuses.add(answer.status);
              }),
            );
          });
          // The first batch has a valid and an invalid body.
          await fc.assert(property, { numRuns: BATCHES, examples: [[[JSON.stringify(good), "[]"]]] });
          expect(statuses).to.include(400);
          expect([...statuses].some((status) => status !== 400)).to.equal(true);
        });
      }

      it("responds without an internal error to bytes that are not text", async () => {
        for (const operation of OPERATIONS) {
          const token = tenant.tokens[operation.tag] ?? "none";
          for (const bytes of [
            [0xff, 0xfe],
            [0x7b, 0x00, 0x7d],
            [0xef, 0xbb, 0xbf, 0x7b, 0x7d],
            [0x22, 0xed, 0xa0, 0x80, 0x22],
          ]) {
            const text = await sendRaw(
              service.url,
              rawPost(operation.path, token, Buffer.from(bytes).toString("latin1")),
            );
            expect(text).to.match(/^HTTP\/1\.1 [24]\d\d /);
          }
        }
      });

      it("never repeats a part of a token in an error", async () => {
        const { bizID, refreshToken } = tenant.partner;
        const bodies = [
          `{"biz_id":"${bizID}","token":"${refreshToken}`,
          `{"biz_id":"${bizID}","token":"${refreshToken}"`,
          `{"biz_id":"${bizID}","token":"${refreshToken}"]`,
          `{"biz_id":"${bizID}","token":"${refreshToken}",}`,
          `{"biz_id":"${bizID}","token":${refreshToken}}`,
          `{"biz_id":"${bizID}","token":"${refreshToken}\t"}`,
          `{"biz_id":"${bizID}","token":"\\x${refreshToken}"}`,
          `{"token":"${refreshToken}" "${refreshToken}"}`,
          `["${refreshToken}"]`,
          `"${refreshToken}"`,
          refreshToken,
          `{"${refreshToken}":1}`,
          `{"biz_id":"${bizID}","token":"${refreshToken}","${refreshToken}":1}`,
          `{"biz_id":"${refreshToken}","token":"${bizID}"}`,
          `{"biz_id":"${refreshToken}","token":"${refreshToken.repeat(3)}"}`,
          `{"biz_id":"${bizID}","token":["${refreshToken}"]}`,
          `{"biz_id":"${bizID}","token":{"${refreshToken}":"${refreshToken}"}}`,
        ];
        for (const body of bodies) {
          const answer = await service.post("/v1/public/auth/jwt", body);
          expectProblem(answer);
          // A response must not contain any 8 characters (48 bits) of the secret.
          for (let i = "krs_".length; i + 8 <= refreshToken.length; i++)
            expect(answer.text, body).not.to.include(refreshToken.slice(i, i + 8));
        }
      });
    });

    describe("with an Idempotency-Key of any form", () => {
      const idempotent = OPERATIONS.filter((operation) => operation.idempotent);

      it("reads the key in the operations that create partners, tokens and secrets", () => {
        expect(idempotent.map(({ path }) => path).sort()).to.deep.equal([
          "/v1/admin/partners/create",
          "/v1/admin/serverTokens/create",
          "/v1/authdBizSrv/users/createMany",
          "/v1/authdBizSrv/users/createRefreshToken",
          "/v1/authdBizSrv/webhooks/create",
          "/v1/authdBizSrv/webhooks/rotateSecret",
        ]);
      });

      for (const operation of idempotent) {
        it(`responds without an internal error to ${operation.path}`, async () => {
          const token = tenant.tokens[operation.tag] ?? "";
          const key = fc.oneof(
            fc.stringMatching(/^[\x20-\x7e]{0,140}$/),
            fc.stringMatching(/^[\x21-\x7e]{32,128}$/),
            fc.stringMatching(/^[\x80-\xff\t]{30,40}$/),
          );
          const property = fc.asyncProperty(key, async (idempotencyKey) => {
            const answer = await service.post(operation.path, goodBody(operation, tenant), { token, idempotencyKey });
            check(operation, answer, idempotencyKey, tenant);
            const isValid = /^[\x21-\x7e]{32,128}$/.test(idempotencyKey.trim());
            if (!isValid) expectProblem(answer, [400, "IDEMPOTENCY_KEY_INVALID"]);
            else if (answer.body["code"] !== "WEBHOOK_LIMIT_REACHED") expect(answer.status).to.be.below(300);
          });
          await fc.assert(property, { numRuns: 40 });
        });
      }
    });
  },
  { publish: () => Promise.resolve([]) },
);

describe("the HTTP server", () => {
  const service = serviceOnPostgres();
  let tenant: Tenant;
  before(async () => {
    tenant = await createTenant(service);
  });

  describe("with content types of any form", () => {
    it("rejects the request or reads the body as JSON", async () => {
      const type = fc.oneof(
        fc.stringMatching(/^[\x20-\x7e]{1,60}$/),
        fc.constantFrom(
          "application/json;",
          "application/json; charset=utf-16",
          "application/JSON",
          "multipart/form-data",
          "application/json, application/json",
          "text/json",
          "application/problem+json",
          "application/json; a=b",
        ),
      );
      const [operation = never()] = OPERATIONS;
      const body = goodBody(operation, tenant);
      const property = fc.asyncProperty(type, async (contentType) => {
        const headers = { "Content-Type": contentType };
        check(operation, await service.post(operation.path, body, { headers }), contentType, tenant);
      });
      await fc.assert(property, { numRuns: 60 });
    });
  });

  describe("with other paths and methods", () => {
    it("rejects an unknown path as an unknown operation", async () => {
      for (const path of [
        "/v1",
        "/v1/authdBizSrv/users/delete",
        "/v2/public/auth/jwt",
        "/v1/authdBizSrv/users/create/",
        "/V1/public/auth/jwt",
        "//v1/public/auth/jwt",
        "/v1/admin/%70ublish/x",
      ])
        expectProblem(await service.post(path, {}), [404, "OPERATION_UNKNOWN"]);
    });

    it("rejects a malformed path", async () => {
      for (const path of ["/v1/%zz", "/%", "/%c0%ae", `/${"x".repeat(9000)}`, "/v1/public/auth/jwt%00"]) {
        const answer = await service.post(path, {});
        expectProblem(answer);
        expect(answer.status).to.be.below(500);
      }
    });

    for (const method of ["GET", "HEAD", "PUT", "PATCH", "DELETE"]) {
      it(`rejects ${method} requests to operations`, async () => {
        for (const { path } of OPERATIONS) {
          const response = await fetch(service.url + path, { method });
          expect([path, response.status, response.headers.get("allow")]).to.deep.equal([path, 405, "POST"]);
          const text = await response.text();
          if (method !== "HEAD") expect(JSON.parse(text)).to.include({ code: "METHOD_NOT_ALLOWED", status: 405 });
        }
      });
    }
  });

  describe("with raw bytes", () => {
    const statusOf = (text: string) => Number(/^HTTP\/1\.1 (\d\d\d) /.exec(text)?.[1]);
    const close = "Host: x\r\nConnection: close\r\n";

    const requests: [what: string, request: string][] = [
      ["bytes that are not HTTP", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"],
      ["an unknown method", `JUMP / HTTP/1.1\r\n${close}\r\n`],
      ["a strange method", `PROPFIND /v1/public/auth/jwt HTTP/1.1\r\n${close}\r\n`],
      ["TRACE", `TRACE / HTTP/1.1\r\n${close}\r\n`],
      ["no Host", "GET /healthzz HTTP/1.1\r\nConnection: close\r\n\r\n"],
      ["another HTTP version", `GET / HTTP/3.0\r\n${close}\r\n`],
      ["too many headers", `GET / HTTP/1.1\r\n${close}${"A: b\r\n".repeat(5000)}\r\n`],
      ["a header too large", `GET / HTTP/1.1\r\n${close}A: ${"b".repeat(20_000)}\r\n\r\n`],
      ["an invalid header name", `GET / HTTP/1.1\r\n${close}A b: c\r\n\r\n`],
      ["two lengths", `POST / HTTP/1.1\r\n${close}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
      [
        "a length and chunks",
        `POST / HTTP/1.1\r\n${close}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      ],
      ["an invalid length", `POST / HTTP/1.1\r\n${close}Content-Length: x\r\n\r\n{}`],
      ["invalid chunks", `POST / HTTP/1.1\r\n${close}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`],
      ["an expectation", `POST / HTTP/1.1\r\n${close}Expect: miracles\r\nContent-Length: 0\r\n\r\n`],
      ["an absolute URL", `GET http://elsewhere.test/page HTTP/1.1\r\n${close}\r\n`],
      ["a malformed path", `GET /%zz HTTP/1.1\r\n${close}\r\n`],
      [
        "a length beyond the limit",
        `POST /v1/public/auth/jwt HTTP/1.1\r\n${close}Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{}`,
      ],
    ];
    for (const [what, request] of requests) {
      it(`returns a problem document for ${what}`, async () => {
        const text = await sendRaw(service.url, request);
        expect(statusOf(text), text).to.be.within(400, 499);
        expect(text).not.to.match(/node_modules|\bat .*:\d+:\d+/);
        expect(text.toLowerCase()).to.include("content-type: application/problem+json");
      });
    }

    it("closes the connection of a CONNECT request", async () => {
      expect(await sendRaw(service.url, `CONNECT elsewhere.test:443 HTTP/1.1\r\n${close}\r\n`)).to.equal("");
    });

    it("still responds after it received random bytes", async () => {
      const line = fc.string({ unit: "binary", maxLength: 40 });
      const request = fc.tuple(
        fc.constantFrom("GET /", "POST /v1/public/auth/jwt", "PUT /%", "", "\0"),
        fc.constantFrom(" HTTP/1.1", " HTTP/1.0", ""),
        fc.array(line, { maxLength: 5 }),
        line,
      );
      const property = fc.asyncProperty(request, async ([path, version, headers, body]) => {
        const text = await sendRaw(
          service.url,
          `${path}${version}\r\n${close}${headers.join("\r\n")}\r\n\r\n${body}\r\n\r\n`,
        );
        expect(statusOf(text)).not.to.be.within(500, 599);
      });
      await fc.assert(property, { numRuns: 40 });
      expect((await service.monitor("/healthz")).status).to.equal(200);
    });
  });
});

/** Checks that a response is no internal error, contains no secret, and matches the OpenAPI document. */
function check({ path, responses }: Operation, answer: Answer, sent: string, tenant: Tenant): void {
  const what = `${path} ${JSON.stringify(sent.slice(0, 500))}: ${answer.status} ${answer.text}`;
  expect(answer.status, what).to.be.below(500);
  if (answer.status >= 400) {
    expectProblem(answer);
    const repeated = secretsOf(tenant).filter((secret) => answer.text.includes(secret));
    expect(repeated, what).to.deep.equal([]);
  }
  const schema = responses.get(answer.status) ?? never(`The OpenAPI document lacks this response: ${what}`);
  const validate = validators.get(schema) ?? ajv.compile(schema);
  validators.set(schema, validate);
  expect(validate(answer.body), `${what}: ${JSON.stringify(validate.errors)}`).to.equal(true);
}

function secretsOf({ partner, user, tokens }: Tenant): string[] {
  const jwts = Object.values(tokens).flatMap((token) => token ?? []);
  return [...jwts, partner.refreshToken, user.refreshToken, ADMIN_TOKEN];
}

function rawPost(path: string, token: string, body: string): string {
  const headers = `Host: x\r\nConnection: close\r\nContent-Type: application/json\r\nAuthorization: Bearer ${token}\r\n`;
  return `POST ${path} HTTP/1.1\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
