import { expect } from "chai";
import { Cleanup } from "../../../packages/service/src/api/base/cleanup.ts";
import { failure } from "../../support/support.ts";

describe("Cleanup", () => {
  it("closes its resources once, in reverse order", async () => {
    const closed: string[] = [];
    const cleanup = new Cleanup();
    cleanup.use({ [Symbol.dispose]: () => void closed.push("a") });
    const resource = { [Symbol.asyncDispose]: () => Promise.resolve(void closed.push("b")) };
    expect(cleanup.use(resource)).to.equal(resource);
    cleanup.defer(() => closed.push("c"));
    for (let i = 0; i < 2; i++) await cleanup[Symbol.asyncDispose]();
    expect(closed).to.deep.equal(["c", "b", "a"]);
  });

  it("moves its resources to another object", async () => {
    const closed: string[] = [];
    let moved: Cleanup;
    {
      await using cleanup = new Cleanup();
      cleanup.defer(() => closed.push("a"));
      moved = cleanup.move();
    }
    expect(closed).to.deep.equal([]);
    await moved[Symbol.asyncDispose]();
    expect(closed).to.deep.equal(["a"]);
  });

  it("closes all resources even if one fails", async () => {
    const closed: string[] = [];
    const cleanup = new Cleanup();
    cleanup.defer(() => closed.push("a"));
    cleanup.defer(() => Promise.reject(new Error("second")));
    cleanup.defer(() => {
      throw new Error("first");
    });
    expect(await failure(cleanup[Symbol.asyncDispose]())).to.have.property("message", "first");
    expect(closed).to.deep.equal(["a"]);
  });
});
