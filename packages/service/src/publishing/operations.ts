import { answerFrom } from "../api/answerFrom.ts";
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { ERROR_CODES } from "keyroot/internal/errors";
import { ServiceError } from "../api/base/errors.ts";
import { operationsWith } from "../api/defineOperation.ts";
import { amount, count, empty, limit, named, page, region, strict, timestamp, wei } from "../api/fields.ts";
import type { KeyType } from "keyroot/internal/identity";
import type { ApiContext } from "../api/context.ts";
import { toServiceError } from "../api/problem.ts";
import { checkDatabases } from "../api/database/database.ts";
import { keyTypeName, root, transaction } from "../keys/fields.ts";
import { BATCH_CURSOR, type BatchStore } from "./batches.ts";
import type { PublisherState } from "./publisherState.ts";
import type { PublishRequest, PublishRequests } from "./publishRequests.ts";

const errorCode = z.string().nullable().meta({ description: "The error code. Null if there is no error." });
const publishedBatches = z.array(
  named("PublishedBatch", "A published batch.", {
    root,
    users: count("users who now have this root"),
    transaction,
    block: amount.meta({ description: "The number of the transaction's block." }),
  }),
);
const publishRun = strict({
  requested: timestamp,
  started: timestamp.nullable().meta({ description: "When the publisher took the request. Null while it waits." }),
  ended: timestamp.nullable().meta({ description: "When the run ended. Null before." }),
  batches: publishedBatches,
  error: errorCode,
});

export interface PublishingContext extends ApiContext {
  batches: BatchStore;
  publishRequests: PublishRequests;
  /** The state of the publisher. Undefined if the service does not publish keys. */
  publisher: PublisherState | undefined;
  keyType: KeyType;
}

const defineOperation = operationsWith<PublishingContext>();

export const publishingOperations = [
  defineOperation({
    path: "/v1/admin/publishRegistered",
    callers: ["operator"],
    summary: "Publish the registered keys whose hold period is over",
    description:
      "The publisher takes the request within seconds. The service responds when the transactions are confirmed, which may take minutes.",
    body: empty,
    answer: strict({ batches: publishedBatches }),
    errors: [409],
    async handle(_body, { context, author, request }) {
      const publisher = requirePublishing(context);
      const { id } = await context.publishRequests.add(author, context.now());
      const closed = new AbortController();
      request.raw.once("close", () => {
        if (request.socket.destroyed) closed.abort();
      });
      const { batches, error } = await context.publishRequests.waitFor(id, () => publisher.isSilent(), closed.signal);
      if (error !== null) throw publishingFailed(error);
      return { batches: batches ?? [] };
    },
  }),

  defineOperation({
    path: "/v1/dashboard/publishing/start",
    callers: ["operatorStaff"],
    summary: "Ask the publisher to publish the registered keys now",
    body: empty,
    answer: publishRun,
    async handle(_body, { context, author }) {
      requirePublishing(context);
      return toRun(await context.publishRequests.add(author, context.now()));
    },
  }),

  defineOperation({
    path: "/v1/dashboard/status/get",
    callers: ["operatorStaff"],
    reads: true,
    summary: "Get the state of the databases and of the publisher, with its chain and stores",
    body: empty,
    answer: strict({
      databases: z.array(strict({ name: z.string(), error: errorCode })),
      publishing: strict({
        reported: timestamp
          .nullable()
          .meta({ description: "The time of the publisher's last report about the chain and the stores." }),
        chain: strict({
          chain_id: amount,
          contract: z.string(),
          key_type: keyTypeName,
          error: errorCode,
          state: strict({ block: amount, owner: z.string(), balance: wei, fee: wei })
            .nullable()
            .meta({ description: "Null if the chain's endpoint does not respond." }),
        }),
        stores: z.array(strict({ region, location: z.string(), error: errorCode })),
        publishable: count("keys that the next batch publishes"),
        running: z.boolean().meta({ description: "Whether a publisher publishes now." }),
        differences: z.array(strict({ region, root, error: z.string() })).meta({
          description: "Roots for which the chain, the files and the databases differed at the last check.",
        }),
        last_run: publishRun
          .nullable()
          .meta({ description: "The last run that someone requested; null if there is none." }),
      })
        .nullable()
        .meta({ description: "Null if the service does not publish." }),
    }),
    async handle(_body, { context, request }) {
      const [checked, publishing] = await Promise.all([checkDatabases(context.databases), describePublishing(context)]);
      return {
        databases: checked.map(({ name, error }) => ({ name, error: logFailure(error, request) })),
        publishing,
      };
    },
  }),

  defineOperation({
    path: "/v1/dashboard/publishing/get",
    callers: ["partnerStaff"],
    reads: true,
    summary: "Get the days on which keys of the partner were published, and the number of pending keys",
    body: empty,
    answer: strict({
      days: z.array(
        strict({
          day: timestamp.meta({ description: "The beginning of the day, UTC." }),
          users: amount,
          cost: wei,
          unpriced: count("the day's users whose cost was not recorded"),
        }),
      ),
      pending: strict({ waiting: amount, undecided: amount, ready: amount }),
    }),
    async handle(_body, { context: { batches, now }, principal: { bizID } }) {
      const [days, pending] = await Promise.all([batches.history(bizID), batches.countPending(bizID, now())]);
      return { days: days.map((day) => ({ ...day, cost: String(day.cost) })), pending };
    },
  }),

  defineOperation({
    path: "/v1/dashboard/publishing/listBatches",
    callers: ["partnerStaff"],
    reads: true,
    summary: "List the partner's parts of batches in pages, newest first",
    body: strict({ limit, after: z.string().regex(BATCH_CURSOR).optional() }),
    answer: page(
      "batches",
      strict({
        root: z.string(),
        region,
        users: amount,
        created: timestamp,
        confirmed: timestamp.nullable(),
        state: z.enum(["submitted", "published"]),
        transaction: z.string().nullable(),
        block: amount.nullable(),
        gas: amount.nullable(),
        cost: wei.nullable(),
      }),
      z.string(),
    ),
    async handle(options, { context, principal: { bizID } }) {
      const page = await context.batches.listOfPartner(bizID, options);
      return {
        batches: page.batches.map(({ transactionHash, blockNumber, gas, cost, ...batch }) => ({
          ...batch,
          state: blockNumber === null ? ("submitted" as const) : ("published" as const),
          transaction: transactionHash,
          block: blockNumber,
          gas: gas === null ? null : Number(gas),
          cost: cost === null ? null : String(cost),
        })),
        next: page.next,
      };
    },
  }),
];

async function describePublishing({ publisher, publishRequests, keyType }: PublishingContext) {
  if (publisher === undefined) return null;
  const [{ at, chain, stores }, publishable, running, differences, last] = await Promise.all([
    publisher.report(),
    publisher.countPublishable(),
    publisher.isPublishing(),
    publisher.listDifferences(),
    publishRequests.last(),
  ]);
  return {
    ...{ reported: at, chain: { ...chain, key_type: keyType.name }, stores, publishable, running },
    differences: differences.map(({ code, ...of }) => ({ ...of, error: code })),
    last_run: last === undefined ? null : toRun(last),
  };
}

function toRun({ batches, ...run }: PublishRequest) {
  return answerFrom(publishRun, { ...run, batches: batches ?? [] });
}

/**
 * Logs the error of a failed status check.
 * @returns the error's code for the page, or null if there is no error
 */
function logFailure(error: unknown, request: FastifyRequest): string | null {
  if (error === undefined) return null;
  request.log.warn({ err: error }, "system status check failed");
  const { code } = error as { code?: unknown };
  // Pages do not show error messages, because a message may contain URLs with secrets.
  return typeof code === "string" && /^[A-Z_]{3,40}$/.test(code) ? code : toServiceError(error).code;
}

function requirePublishing({ publisher }: PublishingContext): PublisherState {
  if (publisher !== undefined) return publisher;
  const message = "This service does not publish keys. Set KEYROOT_CONTRACT and KEYROOT_CHAIN_ID.";
  throw new ServiceError(503, "UNAVAILABLE", message);
}

/** The error of a failed publication. The message contains only the code, because others may contain secrets. */
function publishingFailed(code: string): ServiceError {
  const known = ERROR_CODES.find((each) => each === code);
  const message = `Publishing failed with the code ${code}. Correct its cause (docs/errors.md). The publisher's log contains the reason.`;
  return known === undefined ? new ServiceError(500, "DEFECT", message) : new ServiceError(400, known, message);
}
