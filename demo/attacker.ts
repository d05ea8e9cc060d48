/**
 * An attacker between a client and its servers, in a separate process. It reads its configuration from standard input,
 * prints its URL, and runs until standard input ends. It forwards requests for `/<attack>/rpc`, `/<attack>/files/…` and
 * `/<attack>/beacon/…`, with the changes that the attack makes.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import type { KeyTypeName } from "keyroot/internal/identity";
import { loadKeyType } from "keyroot/internal/keyTypes";
import { parseMerkleFile, serializeMerkleFile } from "keyroot/internal/merkle";
import type { Attack, AttackContext, Call } from "./attacks/attack.ts";
import { ATTACKS } from "./attacks/attacks.ts";
import { forgeUpdate } from "./attacks/beaconAttacks.ts";

/** The victims and the honest servers. The first line of standard input contains this object as JSON. */
export interface AttackerConfig {
  context: Omit<AttackContext, "keyType">;
  keyType: KeyTypeName;
  rpcUrl: string;
  merkleUrl: string;
  beaconUrl: string;
}

const input = createInterface({ input: process.stdin });
const [line] = (await once(input, "line")) as [string];
const { rpcUrl, merkleUrl, beaconUrl, ...config } = JSON.parse(line) as AttackerConfig;
const context: AttackContext = { ...config.context, keyType: await loadKeyType(config.keyType) };

const server = createServer((request, response) => {
  respond(request, response).catch((error: unknown) => {
    response.destroy(error as Error);
  });
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
input.once("close", () => {
  server.close();
  server.closeAllConnections();
});

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  // Web pages may use the attacker's servers, like the honest servers.
  response.setHeader("Access-Control-Allow-Origin", "*");
  if (request.method === "OPTIONS") {
    response.writeHead(204, { "Access-Control-Allow-Headers": "Content-Type" }).end();
    return;
  }
  const [, name, server, ...path] = (request.url ?? "").split("/");
  const attack = ATTACKS.find((candidate) => candidate.name === name);
  if (attack === undefined) throw new Error(`There is no attack ${name}.`);
  const file = path.join("/");
  if (server === "beacon") await forwardBeacon(attack, file, response);
  else if (server === "rpc") await forwardCall(attack, request, response);
  else if (file.startsWith("accounts/")) sendAccountFile(attack, response);
  else await forwardFile(attack, file, response);
}

async function forwardCall(attack: Attack, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const asked = JSON.parse(await text(request)) as Call;
  const call = { ...asked, ...attack.call?.(asked, context) };
  const forwarded = await fetch(rpcUrl, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(call),
  });
  const answer = (await forwarded.json()) as { result: unknown };
  const result = attack.rpc ? attack.rpc(call, answer.result, context) : answer.result;
  response.end(JSON.stringify({ ...answer, result }));
}

async function forwardBeacon(attack: Attack, path: string, response: ServerResponse): Promise<void> {
  const forwarded = await fetch(`${beaconUrl}/${path}`);
  response.setHeader("Content-Type", "application/octet-stream");
  const bytes = new Uint8Array(await forwarded.arrayBuffer());
  if (path.endsWith("/finality_update") && attack.update !== undefined)
    response.end(forgeUpdate(bytes, attack.update, context));
  else if (path.includes("/updates") && attack.endless === true) await sendEndlessly(bytes, response);
  else response.writeHead(forwarded.status).end(bytes);
}

/** Repeats bytes until the client closes the connection. */
async function sendEndlessly(bytes: Uint8Array, response: ServerResponse): Promise<void> {
  const repeat = function* () {
    for (;;) yield bytes;
  };
  await pipeline(Readable.from(repeat()), response).catch(() => undefined);
}

function sendAccountFile({ accountFile }: Attack, response: ServerResponse): void {
  const file = accountFile?.(context.accounts);
  response.writeHead(file === undefined ? 404 : 200).end(file);
}

async function forwardFile(attack: Attack, file: string, response: ServerResponse): Promise<void> {
  if (attack.inventedFile !== undefined) {
    response.end([...serializeMerkleFile(attack.inventedFile(context))].join(""));
    return;
  }
  const forwarded = await fetch(`${merkleUrl}/${file}`);
  const bytes = new Uint8Array(await forwarded.arrayBuffer());
  response.statusCode = forwarded.status;
  if (attack.file === undefined || !forwarded.ok) {
    response.end(bytes);
    return;
  }
  const changed = attack.file(parseMerkleFile(bytes, file.replace(".json", ""), context.keyType), context);
  if (changed instanceof URL) response.writeHead(302, { Location: changed.href }).end();
  else response.end(typeof changed === "string" ? changed : JSON.stringify(changed));
}
