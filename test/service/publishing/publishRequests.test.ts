import { expect } from "chai";
import type { Author } from "../../../packages/service/src/api/base/author.ts";
import type { Databases } from "../../../packages/service/src/api/database/database.ts";
import { PublishRequests, updateRequests } from "../../../packages/service/src/publishing/publishRequests.ts";
import { failure } from "../../support/support.ts";
import { freshDatabases } from "../../support/service/support.ts";

describe("a request to publish", () => {
  let databases: Databases;
  let requests: PublishRequests;
  before(async () => {
    databases = await freshDatabases();
    requests = new PublishRequests(databases.home);
  });
  after(() => databases[Symbol.asyncDispose]());

  const author: Author = { actor: { kind: "operator" }, requestID: "request", address: null };
  const { signal } = new AbortController();

  it("ends with PUBLISHER_SILENT if no publisher takes it or reports, and remains for the next publisher", async () => {
    const { id } = await requests.add(author, 0);
    const error = await failure(requests.waitFor(id, () => Promise.resolve(true), signal));
    expect(error).to.include({ status: 503, code: "PUBLISHER_SILENT" });
    expect((await requests.listOpen()).map((request) => request.id)).to.deep.equal([id]);
  });

  it("is waited for if a publisher has taken it, even if the publisher is silent", async () => {
    const { id } = await requests.add(author, 0);
    await updateRequests(databases.home, [{ id }], { started: 1 });
    let asked = 0;
    const waiting = requests.waitFor(id, () => Promise.resolve(++asked > 0), signal);
    await updateRequests(databases.home, [{ id }], { ended: 2, batches: [] });
    expect(await waiting).to.include({ id, ended: 2, error: null });
    expect(asked).to.equal(0);
  });
});
