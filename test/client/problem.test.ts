import { expect } from "chai";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { readProblem } from "../../packages/client/src/shared/problem.ts";
import { SERVICE_CODES, ServiceError } from "@keyroot/client/internal";
import { SERVICE_ERROR_CODES } from "../../packages/service/src/api/base/errors.ts";

const problem = {
  type: "urn:keyroot:error:USER_ID_TAKEN",
  title: "user id taken",
  status: 409,
  code: "USER_ID_TAKEN",
  detail: "The id is taken.",
  request_id: "0b8f6b5e-7c50-4a7c-9d5c-3d2b8a1f0e11",
};

const read = (body: unknown, { status = 409, headers = {} } = {}) =>
  readProblem("keys.example", "/v1/x", {
    status,
    headers: new Headers(headers),
    answer: body,
  });

describe("readProblem", () => {
  it("returns an error with the problem's code, detail and request id", () => {
    expect(read(problem)).to.be.instanceOf(ServiceError).and.include({
      name: "ServiceError",
      status: 409,
      code: "USER_ID_TAKEN",
      requestID: problem.request_id,
      message: "keys.example returned the HTTP status 409 for /v1/x: The id is taken.",
      retryAfter: undefined,
      errors: undefined,
    });
  });

  it("returns the seconds to wait and the invalid fields", () => {
    const errors = [{ field: "region", detail: "must be us-west-2 or eu-west-1" }];
    expect(read({ ...problem, errors }, { headers: { "Retry-After": "7" } })).to.deep.include({
      retryAfter: 7,
      errors,
    });
  });

  describe("with a Retry-After header", () => {
    const retryAfter = (value: string) => read(problem, { headers: { "Retry-After": value } }).retryAfter;

    it("returns the seconds to wait", () => {
      expect(["0", "7", "007", "86400", "9".repeat(400)].map(retryAfter)).to.deep.equal([0, 7, 7, 86_400, 999_999_999]);
    });

    it("returns the seconds until a date in each HTTP format", () => {
      const inAnHour = new Date(Date.now() + 3_600_000);
      const [, day = "", month = "", year = "", time = ""] =
        /^\w+, (\d+) (\w+) (\d+) (\S+) GMT$/.exec(inAnHour.toUTCString()) ?? [];
      const weekday = inAnHour.toLocaleDateString("en", { weekday: "long", timeZone: "UTC" });
      const forms = [
        inAnHour.toUTCString(),
        `${weekday}, ${day}-${month}-${year.slice(2)} ${time} GMT`,
        `${weekday.slice(0, 3)} ${month} ${day.replace(/^0/, " ")} ${time} ${year}`,
      ];
      for (const form of forms) expect(retryAfter(form), form).to.be.within(3_500, 3_600);
      const past = ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"];
      expect(past.map(retryAfter)).to.deep.equal([0, 0, 0]);
    });

    it("ignores any other value", () => {
      for (const value of ["", "soon", "-1", "1.5", "1e3", "2026-01-01", "Sunday", "Mon, 99 Foo 2026 00:00:00 GMT"]) {
        expect(retryAfter(value), value).to.be.undefined;
      }
    });
  });

  it("replaces every unknown code with SERVICE_ERROR", () => {
    for (const code of SERVICE_CODES) expect(read({ ...problem, code })).to.include({ code });
    for (const code of [
      "NEWER_THAN_THIS",
      "NOT_PUBLISHED",
      "ABORTED",
      "toString",
      "__proto__",
      "",
      null,
      7,
      ["DEFECT"],
    ]) {
      expect(read({ ...problem, code })).to.include({ code: "SERVICE_ERROR", status: 409 });
    }
  });

  it("accepts every code of the service", () => {
    const folder = join(import.meta.dirname, "../../packages/service/src");
    const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));
    // Operations about people belong to the client in staff/operations.ts.
    const forSessions = paths.filter((path) =>
      /^(?:staff\/(?:passkey.*|sessions|signInOperations)|api\/(?:authenticate|sessionCookie))\.ts$/.test(path),
    );
    const codesIn = (files: readonly string[]) => {
      const sources = files.map((path) => readFileSync(join(folder, path), "utf8")).join("\n");
      return [...sources.matchAll(/ServiceError\(\s*\d+,\s*"([A-Z_]+)"/g)].map(([, code]) => code);
    };
    const codes = codesIn(paths.filter((path) => !forSessions.includes(path)));
    expect(codes).to.include.members(["USER_ID_TAKEN", "RATE_LIMITED", "UNAVAILABLE", "PERSON_UNKNOWN", "NAME_TAKEN"]);
    // The publisher throws this error as an ArgumentError, and the service sends it with the status 409.
    expect(SERVICE_CODES).to.include("PUBLISHER_RUNNING");
    // Only the dashboard calls the operation that fails with LAST_PASSKEY.
    expect([...SERVICE_CODES, "LAST_PASSKEY"]).to.include.members(codes);
    expect(codesIn(forSessions)).to.include.members(["ROLE_REFUSED", "SESSION_REQUIRED"]);
    expect([...SERVICE_CODES, ...SERVICE_ERROR_CODES]).to.include.members(codesIn(forSessions));
  });

  it("accepts any body from a proxy", () => {
    for (const body of ["", "<html>Bad gateway</html>", "{", "[]", "null", '"words"', "7", "[".repeat(100_000)]) {
      expect(read(body, { status: 502 })).to.include({
        code: "SERVICE_ERROR",
        status: 502,
        message: "keys.example returned the HTTP status 502 for /v1/x.",
        requestID: undefined,
      });
    }
  });

  it("shortens long text and escapes control characters", () => {
    const { message } = read({ ...problem, detail: `\u001b[2J\u202e${"x".repeat(10_000)}` });
    expect(message)
      .to.have.lengthOf.below(600)
      .and.match(/: \\u\{1b\}\[2J\\u\{202e\}x+…$/);
    for (const request_id of ["a b", "\u001b", "x".repeat(201), 7, {}]) {
      expect(read({ ...problem, request_id })).to.include({ requestID: undefined });
    }
    const errors = Array.from({ length: 1000 }, () => ({ field: "\u001b", detail: "x".repeat(10_000) }));
    expect(inspect(read({ ...problem, errors }).errors)).not.to.include("\u001b");
    expect(JSON.stringify(read({ ...problem, errors }))).to.have.lengthOf.below(50_000);
    for (const errors of [7, {}, [7], [null], [{ field: 7, detail: 7 }]]) expect(read({ ...problem, errors })).to.be.ok;
  });

  it("removes tokens from the service's text", () => {
    const tokens = [
      "krs_dUQ4Y2Q5OGYwMGIyMDRlOTgwMDk5OGVjZjg0MjdlMTIz",
      "kru_us-west-2_dUQ4Y2Q5OGYwMGIyMDRlOTgwMDk5OGVjZjg0MjdlMTIz",
      "eyJhbGciOiJFZERTQSJ9.eyJpYXQiOjF9.dUQ4Y2Q5OGYwMGIyMDRl",
    ];
    for (const token of tokens) {
      const detail = `not ${token}, "${token}"`;
      const error = read({ ...problem, detail, request_id: token, errors: [{ field: token, detail }] });
      expect(inspect(error, { depth: null, showHidden: true }) + JSON.stringify(error)).not.to.match(/dUQ4Y2Q5|iYXQi/);
      expect(error.message).to.include('not <token>, "<token>"');
    }
  });
});
