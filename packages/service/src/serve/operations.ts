import type { z } from "zod";
import { accountOperations } from "../accounts/operations.ts";
import { auditOperations } from "../auditLog/operations.ts";
import { keyOperations } from "../keys/operations.ts";
import { usersWithKeysOperations } from "../keys/userOperations.ts";
import { overviewOperation } from "./overviewOperation.ts";
import { partnerOperations } from "../partners/operations.ts";
import { publishingOperations } from "../publishing/operations.ts";
import { staffOperations } from "../staff/operations.ts";
import { signInOperations } from "../staff/signInOperations.ts";
import { tokenOperations } from "../tokens/operations.ts";
import { userOperations } from "../users/operations.ts";
import { webhookOperations } from "../webhooks/operations.ts";

/**
 * All operations of the service. The routes, both OpenAPI documents, the clients' types and the dashboard's types are
 * derived from this table.
 */
export const operations = [
  ...tokenOperations,
  ...userOperations,
  ...usersWithKeysOperations,
  ...keyOperations,
  ...accountOperations,
  ...webhookOperations,
  ...auditOperations,
  overviewOperation,
  ...partnerOperations,
  ...publishingOperations,
  ...signInOperations,
  ...staffOperations,
];

type Table = (typeof operations)[number];

/** The path of an operation. */
export type OperationPath = Table["path"];

type OperationAt<Path extends OperationPath> = Extract<Table, { path: Path }>;

/** The request body of an operation, before default values are added. */
export type BodyOf<Path extends OperationPath> = z.input<OperationAt<Path>["body"]>;

/** The response body of an operation. */
export type AnswerOf<Path extends OperationPath> = z.output<OperationAt<Path>["answer"]>;
