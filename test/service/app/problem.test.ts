import { expect } from "chai";
import { ArgumentError as LibraryError } from "../../../packages/keyroot/src/errors.ts";
import { ArgumentError, OPERATOR_ERROR_CODES } from "../../../packages/operator/src/errors.ts";
import { toServiceError } from "../../../packages/service/src/app/problem.ts";

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
