import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import hre from "hardhat";
import { AdminClient } from "@keyroot/client/operator";
import { PartnerClient } from "@keyroot/client/partner";
import { startStack } from "@keyroot/service/stack";
import { environment } from "../processes/commandLine.ts";
import { never } from "../support.ts";

/** Starts a stack with accounts, and creates a partner. @returns also the variables of an example's server */
export async function startAccountStack() {
  const stack = await startStack(hre, { ports: { chain: 0, files: 0, service: 0 }, accounts: "required" });
  const { serviceUrl, adminToken } = stack.service ?? never();
  const admin = new AdminClient({ serviceUrl, adminToken });
  const { biz_id: bizID } = await admin.createPartner("A company");
  const { token: serverToken } = await admin.createServerToken(bizID);
  const partner = new PartnerClient({ serviceUrl, bizID, serverToken });
  const variables = { SERVICE_URL: serviceUrl, BIZ_ID: bizID, SERVER_TOKEN: serverToken };
  return { stack, admin, partner, variables, close: () => stack.close() };
}

/** Starts the `server.mjs` of an example on a free port. */
export async function startExampleServer(cwd: string, variables: Record<string, string>, ...args: string[]) {
  const child = spawn(process.execPath, ["server.mjs", ...args], {
    ...{ cwd, env: environment({ ...variables, PORT: "0" }) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const [, port] = /port (\d+)/.exec(line) ?? never();
  return { url: `http://127.0.0.1:${port}`, close: () => child.kill() };
}
