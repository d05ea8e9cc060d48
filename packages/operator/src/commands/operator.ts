import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";
import { checkOptions } from "keyroot/client";
import { operationCaller } from "keyroot/client";
import { ArgumentError } from "keyroot/errors";
import { readStackFile } from "../stack/stackFile.ts";

/** Sends an operation of a running partner service that is its operator's. */
export type OperatorPost = (path: string, body: object) => Promise<unknown>;

/**
 * Finds the service: the one that was named, with its admin token from the environment, or else the local stack's.
 * @throws ArgumentError ARGUMENT_INVALID
 */
export async function operatorOf(service: string | undefined, hre: HardhatRuntimeEnvironment): Promise<OperatorPost> {
  const { baseUrl, adminToken } = service === undefined ? await localService(hre) : named(service);
  // Publishing takes as long as the chain does.
  const post = operationCaller(checkOptions({ baseUrl, bizId: "operator", timeoutMs: 600_000, retries: 1 }));
  return (path, body) =>
    post(`/v1/admin/${path}`, body, { accessToken: adminToken, idempotencyKey: crypto.randomUUID() });
}

function named(baseUrl: string): { baseUrl: string; adminToken: string } {
  const adminToken = process.env["KEYROOT_ADMIN_TOKEN"];
  if (adminToken !== undefined && adminToken !== "") return { baseUrl, adminToken };
  const message = "Put the service's admin token into the environment variable KEYROOT_ADMIN_TOKEN.";
  throw new ArgumentError("ARGUMENT_INVALID", message);
}

async function localService(hre: HardhatRuntimeEnvironment): Promise<{ baseUrl: string; adminToken: string }> {
  const stack = await readStackFile(hre.config.paths.root);
  if (stack?.service !== undefined) return stack.service;
  const message = "No local stack is running: start one with 'npm start', or name another service with --service.";
  throw new ArgumentError("ARGUMENT_INVALID", message);
}
