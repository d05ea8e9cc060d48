import { KeyrootError } from "../../../packages/keyroot/src/errors.ts";
import type { Author } from "../../../packages/service/src/api/base/author.ts";
import type { PublishedBatch } from "../../../packages/service/src/publishing/publisherReport.ts";
import { PublisherState } from "../../../packages/service/src/publishing/publisherState.ts";
import { updateRequests } from "../../../packages/service/src/publishing/publishRequests.ts";
import type { ServiceContext } from "../../../packages/service/src/serve/context.ts";

/** The registry of services in tests without a chain. */
const TEST_REGISTRY = { contract: `0x${"5fbd".repeat(10)}`, chainId: 11_155_111 };

/** Publishes without a chain. */
export type TestPublish = (author: Author) => Promise<PublishedBatch[]>;

/** Answers each request to publish at once, like a publisher without a chain. */
export function answerPublishRequests(context: ServiceContext, publish: TestPublish): void {
  const { databases, publishRequests, now } = context;
  context.publisher ??= new PublisherState(databases, TEST_REGISTRY, false);
  const add = publishRequests.add.bind(publishRequests);
  const known = new Set<number>();
  publishRequests.add = async (...args) => {
    const request = await add(...args);
    if (known.has(request.id)) return request;
    known.add(request.id);
    const end = (batches: PublishedBatch[], error: string | null) =>
      updateRequests(databases.home, [request], { ended: now(), batches, error });
    void publish(request.author).then(
      (batches) => end(batches, null),
      (error: unknown) => end([], error instanceof KeyrootError ? error.code : "UNEXPECTED"),
    );
    return request;
  };
}
