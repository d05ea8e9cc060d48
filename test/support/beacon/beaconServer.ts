import type { ServerResponse } from "node:http";
import type { Listening } from "@keyroot/operator/shared";
import { serve } from "../servers/servers.ts";

/** The responses of a test's beacon endpoint, by the last part of the request's path. A test may replace each of them. */
export interface BeaconAnswers {
  bootstrap?: (response: ServerResponse, url: URL) => void;
  updates?: (response: ServerResponse, url: URL) => void;
  finality_update?: (response: ServerResponse, url: URL) => void;
}

/** An endpoint of the Beacon API. A test sets its responses. */
export interface BeaconServer extends Listening {
  answers: BeaconAnswers;
  /** The requested paths, with their queries. */
  requests: string[];
}

export async function serveBeacon(answers: BeaconAnswers): Promise<BeaconServer> {
  const requests: string[] = [];
  const server = { answers, requests } as BeaconServer;
  const listening = await serve((request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    requests.push(`${url.pathname}${url.search}`);
    const [, name = ""] = /^\/(?:key\/)?eth\/v1\/beacon\/light_client\/(\w+)/.exec(url.pathname) ?? [];
    const answer = server.answers[name as keyof BeaconAnswers];
    if (answer === undefined) response.writeHead(404).end();
    else answer(response, url);
  });
  return Object.assign(server, listening);
}

/** Creates a response in SSZ. */
export function ssz(bytes: Uint8Array, version = "deneb"): (response: ServerResponse) => void {
  const headers = { "Content-Type": "application/octet-stream", "Eth-Consensus-Version": version };
  return (response) => void response.writeHead(200, headers).end(bytes);
}

/** Joins containers to a response of `updates`. */
export function joinUpdates(items: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(
    items.flatMap((item) => {
      const head = Buffer.alloc(12);
      head.writeBigUInt64LE(BigInt(item.length + 4));
      return [head, item];
    }),
  );
}

/** Converts a decoded container to JSON of the Beacon API. `NUMBERS` become decimal digits, and everything else becomes hex. */
export function toBeaconJson(value: unknown, name = ""): unknown {
  if (value instanceof Uint8Array) {
    const bytes = Buffer.from(value);
    return NUMBERS.has(name) ? BigInt(`0x${bytes.reverse().toString("hex")}`).toString() : `0x${bytes.toString("hex")}`;
  }
  if (Array.isArray(value)) return value.map((item) => toBeaconJson(item));
  const entries = Object.entries(value as object).map(([key, part]) => [key, toBeaconJson(part, key)]);
  return Object.fromEntries(entries) as object;
}

const NUMBERS = new Set([
  ...["slot", "proposer_index", "block_number", "gas_limit", "gas_used", "timestamp", "base_fee_per_gas"],
  ...["blob_gas_used", "excess_blob_gas", "signature_slot"],
]);
