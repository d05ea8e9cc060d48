import { expect } from "chai";
import { z } from "zod";
import { ArgumentError as LibraryError } from "../../../packages/keyroot/src/errors.ts";
import { ArgumentError, OPERATOR_ERROR_CODES } from "../../../packages/operator/src/errors.ts";
import { keyState, region, strict, text, tokenID, userIDHex } from "../../../packages/service/src/api/fields.ts";
import { toServiceError, toValidationError } from "../../../packages/service/src/api/problem.ts";

describe("toServiceError", () => {
  it("returns status 400 for an error that the caller caused", () => {
    for (const code of ["USER_ID_INVALID", "BASE64_INVALID", "JSON_INVALID"] as const)
      expect(toServiceError(new LibraryError(code, "invalid")), code).to.include({ status: 400, code });
  });

  it("returns DEFECT without details for each of the operator's error codes", () => {
    for (const code of OPERATOR_ERROR_CODES) {
      const error = new ArgumentError(code, "/run/owner.json is readable for others.");
      const answer = toServiceError(error);
      expect(answer, code).to.include({ status: 500, code: "DEFECT", cause: error });
      expect(answer.message).to.not.include("owner.json");
    }
  });
});

describe("toValidationError", () => {
  const schema = strict({
    name: text("A name"),
    tokens: tokenID.array(),
    region,
    state: keyState,
    user_id_hex: userIDHex,
    count: z.int(),
    key: z.string().regex(/^[a-z]+$/),
  });

  it("describes the valid values of each invalid field", () => {
    const body = {
      name: "a\0b",
      tokens: ["x"],
      region: "mars",
      state: "lost",
      user_id_hex: "0x",
      count: "1",
      key: "A",
    };
    const { error = { issues: [] } } = schema.safeParse(body, { reportInput: true });
    expect(toValidationError(error).errors).to.deep.equal([
      { field: "name", detail: "must not contain control characters or unpaired surrogates" },
      { field: "tokens.0", detail: "must be a UUID" },
      { field: "region", detail: "must be us-west-2 or eu-west-1" },
      { field: "state", detail: "must be one of pending, submitted, published" },
      { field: "user_id_hex", detail: "must be 40 hex digits" },
      { field: "count", detail: "must be of type number" },
      { field: "key", detail: "must match /^[a-z]+$/" },
    ]);
  });
});
