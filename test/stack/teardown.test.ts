import { expect } from "chai";
import { Teardown } from "../../src/stack/teardown.ts";
import { failure } from "./support.ts";

describe("Teardown", () => {
  describe("run", () => {
    let ran: string[];
    const step = (name: string, error?: Error) => () => {
      ran.push(name);
      return error ? Promise.reject(error) : Promise.resolve();
    };
    beforeEach(() => {
      ran = [];
    });

    it("runs the steps in reverse, each once", async () => {
      const teardown = new Teardown();
      teardown.add(step("first"));
      teardown.add(step("second"));
      await Promise.all([teardown.run(), teardown.run()]);
      await teardown.run();
      expect(ran).to.deep.equal(["second", "first"]);
    });

    it("runs every step although some fail, and throws the first failure", async () => {
      const teardown = new Teardown();
      const error = new Error("third");
      teardown.add(step("first"));
      teardown.add(step("second", new Error("second")));
      teardown.add(step("third", error));
      expect(await failure(teardown.run())).to.equal(error);
      expect(ran).to.deep.equal(["third", "second", "first"]);
    });
  });
});
