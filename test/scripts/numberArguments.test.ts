import { expect } from "chai";
import { numberArguments } from "../../scripts/numberArguments.ts";

describe("numberArguments", () => {
  const { argv } = process;
  afterEach(() => {
    process.argv = argv;
  });
  const given = (...args: string[]) => {
    process.argv = [...argv.slice(0, 2), ...args];
  };

  it("returns the numbers after a script's name, and the defaults of those that are missing", () => {
    given();
    expect(numberArguments(20, 1)).to.deep.equal([20, 1]);
    given("0");
    expect(numberArguments(20, 1)).to.deep.equal([0, 1]);
    given("300", "2");
    expect(numberArguments(20, 1)).to.deep.equal([300, 2]);
  });

  for (const args of [["x"], [""], ["--events", "5"], ["-1"], ["1.5"], ["1e3"], ["0x10"], ["NaN"], ["1", "2", "3"]]) {
    it(`rejects ${JSON.stringify(args)}`, () => {
      given(...args);
      expect(() => numberArguments(20, 1)).to.throw(RangeError, `instead of "${args[2] ?? args[0]}". Default: 20 1.`);
    });
  }
});
