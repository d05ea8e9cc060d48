/**
 * An attacker between a client and the servers, as a process of its own: reads its plot from standard input, prints the
 * address where it listens, and forwards `/<attack>/rpc` and `/<attack>/files/…` with the bytes changed as the attack
 * has it. It ends when its standard input does.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { parseMerkleFile } from "keyroot/merkle";
import { type Attack, ATTACKS, type Call, type Plot } from "./attacks.ts";

/** The first line of standard input: whom to attack, and between which servers. */
export interface AttackersOrders extends Omit<Plot, "attackersKey"> {
  /** The attacker's public key, in base64. */
  attackersKey: string;
  rpcUrl: string;
  merkleUrl: string;
}

const input = createInterface({ input: process.stdin });
const [line] = (await once(input, "line")) as [string];
const { rpcUrl, merkleUrl, ...orders } = JSON.parse(line) as AttackersOrders;
const plot: Plot = { ...orders, attackersKey: Buffer.from(orders.attackersKey, "base64") };

const server = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => {
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

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, name, server, file] = (request.url ?? "").split("/");
  const attack = ATTACKS.find((candidate) => candidate.name === name);
  if (attack === undefined) throw new Error(`No such attack: ${name}`);
  if (server === "rpc") await answerCall(attack, request, response);
  else await answerFile(attack, file ?? "", response);
}

async function answerCall(attack: Attack, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request);
  const forwarded = await fetch(rpcUrl, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  const answered = (await forwarded.json()) as { result: unknown };
  const call = JSON.parse(body) as Call;
  const result = attack.rpc ? attack.rpc(call, answered.result, plot) : answered.result;
  response.end(JSON.stringify({ ...answered, result }));
}

async function answerFile(attack: Attack, file: string, response: ServerResponse): Promise<void> {
  const forwarded = await fetch(`${merkleUrl}/${file}`);
  const bytes = new Uint8Array(await forwarded.arrayBuffer());
  response.statusCode = forwarded.status;
  if (attack.file === undefined || !forwarded.ok) {
    response.end(bytes);
    return;
  }
  const changed = attack.file(parseMerkleFile(bytes, file.replace(".json", "")), plot);
  if (changed instanceof URL) response.writeHead(302, { Location: changed.href }).end();
  else response.end(typeof changed === "string" ? changed : JSON.stringify(changed));
}
