import { expect } from "chai";
import { z } from "zod";
import { answerFrom } from "../../../packages/service/src/api/answerFrom.ts";

describe("answerFrom", () => {
  const schema = z.strictObject({
    user_id: z.string(),
    hold_ends_at: z.number().nullable(),
    name: z.string(),
    root: z.string().optional(),
  });

  it("takes the fields of the schema from a row, and no others", () => {
    const row = { userID: "y", holdEndsAt: null, name: "n", root: undefined, salt: "secret" };
    const answer = answerFrom(schema, row);
    expect(answer).to.deep.equal({ user_id: "y", hold_ends_at: null, name: "n" });
    expect(schema.parse(answer)).to.deep.equal(answer);
  });

  it("reads no value from a row's prototype", () => {
    expect(
      answerFrom(z.strictObject({ constructor: z.unknown() }), Object.create(null) as { constructor: unknown }),
    ).to.deep.equal({});
  });
});
