import { expect } from "chai";
import { ANY_KEY, type KeyRecord } from "keyroot";
import { makeMerkleFile } from "keyroot/merkle";
import { sampleRecords } from "../../support/samples.ts";
import { type Answers, cannedAnswers } from "../../support/data/cannedAnswers.ts";
import { failure } from "../../support/support.ts";
import { verifyOnce } from "../../support/verifier/verifyOnce.ts";

describe("limits of a verification", () => {
  const [mine] = sampleRecords(1) as [KeyRecord];
  const { answers, fetchFrom, options } = cannedAnswers(makeMerkleFile([mine]));
  const verify = (name: keyof Answers, bytes: number, limits = {}) =>
    verifyOnce(mine.userID, {
      ...options,
      expectedPublicKey: ANY_KEY,
      limits,
      // White space does not change the meaning of the response.
      fetch: fetchFrom({ ...answers, [name]: answers[name].padEnd(bytes) }),
    });

  const cases: [keyof Answers, number][] = [
    ["chainId", 2 ** 12],
    ["root", 2 ** 12],
    ["blockNumber", 2 ** 12],
    ["code", 4 * 24_576],
    ["file", 2 ** 24],
  ];
  for (const [name, limit] of cases) {
    it(`allow at most ${limit} bytes in a response with the ${name}`, async () => {
      expect(await verify(name, limit))
        .to.have.property("record")
        .that.deep.equals(mine);
      expect(await failure(verify(name, limit + 1))).to.include({ code: "ANSWER_TOO_LARGE", expected: limit });
    });
  }

  it("do not depend on the options", async () => {
    const larger = { rpcBytes: 2 ** 24 };
    expect(await failure(verify("root", 500, larger))).to.include({ code: "ARGUMENT_INVALID" });
  });
});
