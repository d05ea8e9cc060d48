import { expect } from "chai";
import { ArgumentError, TransportError, VerificationError } from "keyroot";
import { checkUntrusted } from "keyroot/internal/input";

describe("checkUntrusted", () => {
  it("returns the result of the check", () => {
    expect(checkUntrusted("file", "The file", () => 7)).to.equal(7);
  });

  it("converts an ArgumentError to a VerificationError with the same code", () => {
    const cause = new ArgumentError("TREE_EMPTY", "No value.", { expected: 1, actual: 0 });
    const check = () => {
      throw cause;
    };
    expect(() => checkUntrusted("file", "values", check) as unknown)
      .to.throw(VerificationError, "values: No value.")
      .that.includes({ step: "file", code: "TREE_EMPTY", expected: 1, actual: 0, cause });
  });

  it("throws any other error unchanged", () => {
    for (const error of [
      new TransportError("TIMEOUT", ""),
      new VerificationError("key", "KEY_MISMATCH", ""),
      new TypeError(),
    ]) {
      const check = () => {
        throw error;
      };
      expect(() => checkUntrusted("file", "values", check) as unknown).to.throw(error);
    }
  });
});
