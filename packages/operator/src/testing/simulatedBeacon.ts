import { createServer, type IncomingMessage } from "node:http";
import { forkAt, type Layouts, periodOf, slotAt, TEST_NETWORK, toNumber } from "keyroot/internal/lightClient";
import { fetchBlock } from "keyroot/internal/ethereum";
import type { RpcCall } from "keyroot/internal/transport";
import { listen, type Listening } from "../http/listen.ts";
import { simulateBootstrap, simulateUpdate, type UpdateParts } from "./simulatedUpdates.ts";
import { TEST_CHECKPOINT } from "./testCheckpoint.ts";

/** Options of a simulated beacon endpoint. */
export interface SimulatedBeaconOptions {
  /** Sends JSON-RPC requests to the local chain. Its newest block is treated as final at once. */
  call: RpcCall;
  /** Returns the current time in ms since 1970. Default: `Date.now`. */
  now?: () => number;
}

/** A response of the Beacon API, encoded in SSZ. */
interface Answer {
  status: number;
  bytes: Uint8Array;
}

/** The newest finalized header. */
interface Head extends Pick<UpdateParts, "blockHash" | "block"> {
  slot: number;
  update?: Uint8Array;
}

/**
 * How many slots the simulated chain is behind the clock. With this delay, a new block can get a later slot at once.
 */
const LAG = 64;
/** The hash of the execution block in headers that are not verified. */
const NO_BLOCK = `0x${"00".repeat(32)}`;
/** The number of slots from the last update of a period to the end of the period. */
const BEFORE_END = 8;

/**
 * A beacon chain for tests. Its sync committees sign the newest block of the local chain in the format of the real
 * protocol. They have public test keys, so verifiers accept their signatures only for chain 31337.
 */
export class SimulatedBeacon {
  readonly checkpoint = TEST_CHECKPOINT;
  readonly #call: RpcCall;
  readonly #now: () => number;
  readonly #updates = new Map<number, Uint8Array>();
  #head: Head = { slot: 0, blockHash: NO_BLOCK };

  constructor({ call, now = Date.now }: SimulatedBeaconOptions) {
    this.#call = call;
    this.#now = now;
  }

  /**
   * Returns the response to a request of the Beacon API, in SSZ.
   * @param path the path of the request, including its query
   */
  async answer(path: string): Promise<Answer> {
    const { pathname, searchParams } = new URL(path, "http://localhost");
    const [, name, root] = /^\/eth\/v1\/beacon\/light_client\/(\w+)(?:\/(0x\w+))?$/.exec(pathname) ?? [];
    if (name === "bootstrap" && root === TEST_CHECKPOINT) {
      const bootstrap = simulateBootstrap(TEST_NETWORK, 0, NO_BLOCK);
      return { status: 200, bytes: encode("bootstrap", bootstrap, bootstrap.header) };
    }
    if (name === "finality_update") return { status: 200, bytes: await this.#finalityUpdate() };
    if (name !== "updates") return { status: 404, bytes: new Uint8Array() };
    const [start, count] = [Number(searchParams.get("start_period")), Number(searchParams.get("count"))];
    const last = Math.min(start + Math.min(count, 128), periodOf(TEST_NETWORK, slotAt(TEST_NETWORK, this.#now())));
    const updates: Uint8Array[] = [];
    for (let period = start; period < last; period++) updates.push(this.#update(period));
    return { status: 200, bytes: Buffer.concat(updates) };
  }

  /** Serves the Beacon API to any origin. */
  async listen(port = 0, host = "127.0.0.1"): Promise<Listening> {
    const server = createServer((request: IncomingMessage, response) => {
      void this.answer(request.url ?? "/").then(
        ({ status, bytes }) => {
          const headers = { "Content-Type": "application/octet-stream", "Access-Control-Allow-Origin": "*" };
          response.writeHead(status, headers).end(bytes);
        },
        () => response.writeHead(503).end(),
      );
    });
    return listen(server, { host, port });
  }

  /**
   * Returns the update of a period. It is signed only once, because most of the time of a response is spent on signing.
   */
  #update(period: number): Uint8Array {
    const update = this.#updates.get(period) ?? encodeUpdate(period);
    this.#updates.set(period, update);
    return update;
  }

  /** Returns the update for the newest block, which is signed only once. */
  async #finalityUpdate(): Promise<Uint8Array> {
    const { hash: blockHash, ...block } = await fetchBlock(this.#call, "latest");
    const slot = Math.max(this.#head.slot + 1, slotAt(TEST_NETWORK, this.#now()) - LAG);
    if (blockHash !== this.#head.blockHash) this.#head = { slot, blockHash, block };
    this.#head.update ??= encodeFinalityUpdate(this.#head);
    return this.#head.update;
  }
}

function encodeFinalityUpdate({ slot, blockHash, block }: Head): Uint8Array {
  const slots = { finalizedSlot: slot, attestedSlot: slot + 1, signatureSlot: slot + 2 };
  const update = simulateUpdate(TEST_NETWORK, { ...slots, blockHash, block });
  return encode("finality_update", update, update.attested_header);
}

function encodeUpdate(period: number): Uint8Array {
  const { slotsPerEpoch, epochsPerPeriod } = TEST_NETWORK;
  const finalizedSlot = (period + 1) * slotsPerEpoch * epochsPerPeriod - BEFORE_END;
  const slots = { finalizedSlot, attestedSlot: finalizedSlot + 1, signatureSlot: finalizedSlot + 2 };
  const update = simulateUpdate(TEST_NETWORK, { ...slots, blockHash: NO_BLOCK, next: true });
  const bytes = encode("update", update, update.attested_header);
  const head = Buffer.alloc(12);
  head.writeBigUInt64LE(BigInt(bytes.length + 4));
  return Buffer.concat([head, bytes]);
}

function encode<Kind extends keyof Layouts>(
  kind: Kind,
  value: Parameters<Layouts[Kind]["encode"]>[0],
  header: { beacon: { slot: Uint8Array } },
): Uint8Array {
  const layout: { encode(value: unknown): Uint8Array } = forkAt(TEST_NETWORK, toNumber(header.beacon.slot)).layouts[
    kind
  ];
  return layout.encode(value);
}
