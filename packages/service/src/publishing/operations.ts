import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { ServiceError } from "../api/base/errors.ts";
import { defineOperation } from "../api/defineOperation.ts";
import { amount, count, empty, limit, page, region, strict, timestamp, userID, wei } from "../api/fields.ts";
import { toServiceError } from "../api/problem.ts";
import { checkDatabases } from "../api/database/checkDatabases.ts";
import { keyID, root, transaction } from "../keys/operations.ts";
import { BATCH_CURSOR, type PendingKey } from "./batches.ts";
import type { PublishRun } from "./publishRuns.ts";

const errorCode = z.string().nullable().meta({ description: "The error code. Null if there is no error." });
const publishedBatches = z.array(
  strict({
    root,
    users: count("users who now have this root"),
    transaction,
    block: amount.meta({ description: "The number of the transaction's block." }),
  }),
);
const publishRun = strict({
  started: timestamp,
  ended: timestamp.nullable().meta({ description: "When the run ended. Null while it is in progress." }),
  batches: publishedBatches,
  error: errorCode,
});

export const publishingOperations = [
  defineOperation({
    path: "/v1/admin/publishRegistered",
    callers: ["operator"],
    summary: "Publish the registered keys whose hold period is over",
    description: "The service responds after the transactions are confirmed. This may take minutes.",
    body: empty,
    answer: strict({ batches: publishedBatches }),
    errors: [409],
    async handle(_body, { context: { publish }, author }) {
      if (publish === undefined) throw publishUnavailable();
      return { batches: await publish(author) };
    },
  }),

  defineOperation({
    path: "/v1/dashboard/publishing/start",
    callers: ["operatorStaff"],
    role: "administrator",
    summary: "Start publishing the registered keys in the background",
    body: empty,
    answer: publishRun,
    handle(_body, { context: { publishRuns }, author, request }) {
      if (publishRuns === undefined) return Promise.reject(publishUnavailable());
      const run = publishRuns.start(author, (err) => {
        request.log.error({ err }, "publishing failed");
      });
      return Promise.resolve(toRun(run));
    },
  }),

  defineOperation({
    path: "/v1/dashboard/status/get",
    callers: ["operatorStaff"],
    summary: "Get the state of the databases, the chain, the stores and the publisher",
    body: empty,
    answer: strict({
      databases: z.array(strict({ name: z.string(), error: errorCode })),
      publishing: strict({
        chain: strict({
          chain_id: amount,
          contract: z.string(),
          error: errorCode,
          state: strict({ block: amount, owner: z.string(), balance: wei, fee: wei })
            .nullable()
            .meta({ description: "Null if the chain's endpoint does not respond." }),
        }),
        stores: z.array(strict({ region, location: z.string(), error: errorCode })),
        publishable: count("keys that the next batch publishes"),
        running: z.boolean().meta({ description: "Whether any replica publishes now." }),
        differences: z.array(strict({ region, root, error: z.string() })).meta({
          description: "Roots for which the chain, the files and the databases differed at the last check.",
        }),
        last_run: publishRun
          .nullable()
          .meta({ description: "The last run that a person started in this replica; null if there is none." }),
      })
        .nullable()
        .meta({ description: "Null if the service does not publish." }),
    }),
    async handle(_body, { context: { databases, publishing, publishRuns }, request }) {
      const [checked, status] = await Promise.all([checkDatabases(databases), publishing?.()]);
      return {
        databases: checked.map(({ name, error }) => ({ name, error: logFailure(error, request) })),
        publishing: status
          ? {
              chain: { ...status.chain, error: logFailure(status.chain.error, request) },
              stores: status.stores.map((store) => ({ ...store, error: logFailure(store.error, request) })),
              publishable: status.publishable,
              running: status.running,
              differences: status.differences.map(({ code, ...of }) => ({ ...of, error: code })),
              last_run: publishRuns?.last ? toRun(publishRuns.last) : null,
            }
          : null,
      };
    },
  }),

  defineOperation({
    path: "/v1/dashboard/publishing/get",
    callers: ["partnerStaff"],
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

  defineOperation({
    path: "/v1/dashboard/publishing/listPending",
    callers: ["partnerStaff"],
    summary: "List the partner's keys that are not published, in pages",
    body: strict({ limit, after: userID.optional() }),
    answer: page(
      "keys",
      strict({
        ...{ user_id: userID, region, key_id: keyID, registered: timestamp },
        hold_ends_at: timestamp.nullable().meta({ description: "Null while the partner must decide." }),
        submitted: z.boolean(),
      }),
      userID,
    ),
    async handle(options, { context, principal: { bizID } }) {
      const { keys, next } = await context.batches.listPending(bizID, options);
      return { keys: keys.map(toPendingKey), next };
    },
  }),
];

function toPendingKey({ userID, keyID, holdEndsAt, ...key }: PendingKey) {
  return { user_id: userID, key_id: keyID, hold_ends_at: holdEndsAt, ...key };
}

function toRun({ started, ended, batches, error }: PublishRun) {
  return { started, ended, batches: [...batches], error: codeOf(error) };
}

/** Logs the error of a failed status check. @returns the error's code for the page. Null if there is no error */
function logFailure(error: unknown, request: FastifyRequest): string | null {
  if (error !== undefined) request.log.warn({ err: error }, "system status check failed");
  return codeOf(error);
}

/** Returns an error's code. Pages do not show error messages, because a message may contain URLs with secrets. */
function codeOf(error: unknown): string | null {
  if (error === undefined) return null;
  const { code } = error as { code?: unknown };
  return typeof code === "string" && /^[A-Z_]{3,40}$/.test(code) ? code : toServiceError(error).code;
}

/** The error of a service without a configured chain. */
function publishUnavailable(): ServiceError {
  const message = "This service does not publish keys. Set KEYROOT_RPC_URL, KEYROOT_CONTRACT and KEYROOT_FILES.";
  return new ServiceError(503, "UNAVAILABLE", message);
}
