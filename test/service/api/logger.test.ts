import { expect } from "chai";
import { sql } from "drizzle-orm";
import { makeLogger } from "../../../packages/service/src/api/logger.ts";
import { describeOnEachDatabase } from "../../support/service/support.ts";

describeOnEachDatabase("the log of a failed query", (service) => {
  it("contains the statement and its error, but no parameter", async () => {
    const secret = "secret-parameter";
    const failed = await service.databases.home.execute(sql`select ${secret}::text from no_such_table`).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(String(failed)).to.include(secret);

    const lines: string[] = [];
    const logger = makeLogger("error", { write: (line) => void lines.push(line) });
    logger.error({ err: new Error("The request failed.", { cause: failed }) }, "failed");
    expect(lines.join("")).to.include("from no_such_table").and.include("does not exist");
    expect(lines.join("")).not.to.include(secret);
  });
});
