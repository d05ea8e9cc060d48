import { createServer, type IncomingMessage } from "node:http";
import {
  type BeaconNetwork,
  forkAt,
  type Layouts,
  periodOf,
  rootOf,
  slotAt,
  TEST_NETWORK,
  toNumber,
} from "keyroot/beacon/protocol";
import type { RpcCall } from "keyroot/transport";
import { listen, type Listening } from "../shared/ports.ts";
import { simulateBootstrap, simulateUpdate } from "./simulatedUpdates.ts";

/** The chain that a simulated beacon endpoint signs for. */
export interface SimulatedBeaconOptions {
  /** Calls the local chain. Its newest block counts as final at once. */
  call: RpcCall;
  /** Default: the test network, which `keyroot/beacon` accepts for the chain 31337 only. */
  network?: BeaconNetwork;
  /** Returns the current time in ms since 1970. Default `Date.now`. */
  now?: () => number;
}

/** An answer in SSZ. */
interface Answer {
  status: number;
  bytes: Uint8Array;
}

/** The number of slots by which the simulated chain is behind the clock, so that each new block has a later slot at once. */
const LAG = 64;
/** The slots of the last update of a period, counted from its end. */
const BEFORE_END = 8;

/**
 * A beacon chain for tests: its sync committees have public test keys, and they sign whatever the local chain's newest block is, in
 * the format of the real protocol.
 */
export class SimulatedBeacon {
  readonly network: BeaconNetwork;
  /** The root of the first block, for the option `checkpoint`: 0x and 64 lowercase hex digits. */
  readonly checkpoint: string;
  readonly #call: RpcCall;
  readonly #now: () => number;
  readonly #bootstrap: ReturnType<typeof simulateBootstrap>;
  #head: { slot: number; blockHash: string };

  private constructor({ call, network = TEST_NETWORK, now = Date.now }: SimulatedBeaconOptions, blockHash: string) {
    this.#call = call;
    this.#now = now;
    this.network = network;
    this.#head = { slot: slotAt(network, now()) - LAG, blockHash };
    this.#bootstrap = simulateBootstrap(network, this.#head.slot, blockHash);
    this.checkpoint = `0x${Buffer.from(rootOf(this.#bootstrap.header)).toString("hex")}`;
  }

  /** Starts a beacon chain at the local chain's newest block. */
  static async create(options: SimulatedBeaconOptions): Promise<SimulatedBeacon> {
    return new SimulatedBeacon(options, await newestHash(options.call));
  }

  /** Answers a request of the Beacon API, in SSZ. @param path with query */
  async answer(path: string): Promise<Answer> {
    const { pathname, searchParams } = new URL(path, "http://localhost");
    const [, name, root] = /^\/eth\/v1\/beacon\/light_client\/(\w+)(?:\/(0x\w+))?$/.exec(pathname) ?? [];
    if (name === "bootstrap" && root === this.checkpoint)
      return { status: 200, bytes: this.#encode("bootstrap", this.#bootstrap, this.#bootstrap.header) };
    if (name === "finality_update") {
      const update = await this.#finalityUpdate();
      return { status: 200, bytes: this.#encode("finality_update", update, update.attested_header) };
    }
    if (name !== "updates") return { status: 404, bytes: new Uint8Array() };
    const [start, count] = [Number(searchParams.get("start_period")), Number(searchParams.get("count"))];
    const last = Math.min(start + Math.min(count, 128), periodOf(this.network, slotAt(this.network, this.#now())));
    const updates: Uint8Array[] = [];
    for (let period = start; period < last; period++) updates.push(this.#encodeUpdate(period));
    return { status: 200, bytes: Buffer.concat(updates) };
  }

  /** Serves the Beacon API, to any origin. */
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

  async #finalityUpdate() {
    const blockHash = await newestHash(this.#call);
    const slot = Math.max(this.#head.slot + 1, slotAt(this.network, this.#now()) - LAG);
    if (blockHash !== this.#head.blockHash) this.#head = { slot, blockHash };
    const { slot: finalizedSlot } = this.#head;
    const slots = { finalizedSlot, attestedSlot: finalizedSlot + 1, signatureSlot: finalizedSlot + 2 };
    return simulateUpdate(this.network, { ...slots, blockHash });
  }

  #encodeUpdate(period: number): Uint8Array {
    const { slotsPerEpoch, epochsPerPeriod } = this.network;
    const finalizedSlot = (period + 1) * slotsPerEpoch * epochsPerPeriod - BEFORE_END;
    const slots = { finalizedSlot, attestedSlot: finalizedSlot + 1, signatureSlot: finalizedSlot + 2 };
    const update = simulateUpdate(this.network, { ...slots, blockHash: `0x${"00".repeat(32)}`, next: true });
    const bytes = this.#encode("update", update, update.attested_header);
    const head = Buffer.alloc(12);
    head.writeBigUInt64LE(BigInt(bytes.length + 4));
    return Buffer.concat([head, bytes]);
  }

  #encode<Kind extends keyof Layouts>(
    kind: Kind,
    value: Parameters<Layouts[Kind]["encode"]>[0],
    header: { beacon: { slot: Uint8Array } },
  ): Uint8Array {
    const layout: { encode(value: unknown): Uint8Array } = forkAt(this.network, toNumber(header.beacon.slot)).layouts[
      kind
    ];
    return layout.encode(value);
  }
}

async function newestHash(call: RpcCall): Promise<string> {
  const block = (await call("eth_getBlockByNumber", ["latest", false])) as { hash: string };
  return block.hash;
}
