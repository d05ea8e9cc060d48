import { expect } from "chai";
import { ArgumentError } from "../../../packages/keyroot/src/errors.ts";
import { ShapeChecker } from "../../../packages/keyroot/src/input/shapeChecker.ts";

describe("ShapeChecker", () => {
  const shape = new ShapeChecker((message) => new ArgumentError("ARGUMENT_INVALID", message));

  describe("object", () => {
    const expected = "The bundle must be an object with exactly the keys format, root, but is ";

    it("describes an object without keys, an object with other keys, and another value", () => {
      for (const [value, description] of [
        [{}, "an empty object."],
        [{ format: 1, "a\nb": 2 }, 'an object with the keys "format, a\\nb".'],
        [[], "an array."],
      ] as const)
        expect(() => shape.object("The bundle", value, ["format", "root"])).to.throw(expected + description);
    });
  });
});
