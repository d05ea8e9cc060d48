/**
 * An attacker between a client and the client's servers, in a separate process. The process reads the configuration
 * from standard input and prints the attacker's URL. The process forwards requests for `/<attack>/rpc`,
 * `/<attack>/files/…` and `/<attack>/beacon/…`, and makes the changes of this attack. The process ends when standard
 * input ends.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { parseMerkleFile } from "keyroot/internal/merkle";
import { BEACON_ATTACKS, forgeUpdate } from "./attacks/beaconAttacks.ts";
import { type Attack, type AttackContext, ATTACKS, type Call } from "./attacks/keyAttacks.ts";

/**
 * The attacker's configuration: the victim and the servers. The first line of standard input contains the configuration
 * as JSON.
 */
export interface AttackerConfig extends Omit<AttackContext, "attackersKey"> {
  /** The attacker's public key, in base64. */
  attackersKey: string;
  rpcUrl: string;
  merkleUrl: string;
  beaconUrl: string;
}

const input = createInterface({ input: process.stdin });
const [line] = (await once(input, "line")) as [string];
const { rpcUrl, merkleUrl, beaconUrl, ...config } = JSON.parse(line) as AttackerConfig;
const context: AttackContext = { ...config, attackersKey: Buffer.from(config.attackersKey, "base64") };

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
  if (server === "beacon") {
    await forwardBeacon(name, path.join("/"), response);
    return;
  }
  const attack = ATTACKS.find((candidate) => candidate.name === name);
  if (attack === undefined) throw new Error(`There is no attack ${name}.`);
  if (server === "rpc") await forwardCall(attack, request, response);
  else await forwardFile(attack, path.join("/"), response);
}

async function forwardCall(attack: Attack, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request);
  const forwarded = await fetch(rpcUrl, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  const answer = (await forwarded.json()) as { result: unknown };
  const call = JSON.parse(body) as Call;
  const result = attack.rpc ? attack.rpc(call, answer.result, context) : answer.result;
  response.end(JSON.stringify({ ...answer, result }));
}

async function forwardBeacon(name: string | undefined, path: string, response: ServerResponse): Promise<void> {
  const forwarded = await fetch(`${beaconUrl}/${path}`);
  response.setHeader("Content-Type", "application/octet-stream");
  const bytes = new Uint8Array(await forwarded.arrayBuffer());
  const attack = BEACON_ATTACKS.find((candidate) => candidate.name === name);
  if (path.endsWith("/finality_update") && attack?.update !== undefined)
    response.end(forgeUpdate(bytes, attack.update, context));
  else if (path.includes("/updates") && attack?.endless === true) await sendEndlessly(bytes, response);
  else response.writeHead(forwarded.status).end(bytes);
}

/** Repeats bytes until the client closes the connection. */
async function sendEndlessly(bytes: Uint8Array, response: ServerResponse): Promise<void> {
  const repeat = function* () {
    for (;;) yield bytes;
  };
  await pipeline(Readable.from(repeat()), response).catch(() => undefined);
}

async function forwardFile(attack: Attack, file: string, response: ServerResponse): Promise<void> {
  const forwarded = await fetch(`${merkleUrl}/${file}`);
  const bytes = new Uint8Array(await forwarded.arrayBuffer());
  response.statusCode = forwarded.status;
  if (attack.file === undefined || !forwarded.ok) {
    response.end(bytes);
    return;
  }
  const changed = attack.file(parseMerkleFile(bytes, file.replace(".json", "")), context);
  if (changed instanceof URL) response.writeHead(302, { Location: changed.href }).end();
  else response.end(typeof changed === "string" ? changed : JSON.stringify(changed));
}
