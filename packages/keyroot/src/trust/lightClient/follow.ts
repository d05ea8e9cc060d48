import { decodeUtf8 } from "../../engine/utf8.ts";
import { type KeyrootError, TransportError, VerificationError } from "../../errors.ts";
import { describeValue } from "../../input/describeValue.ts";
import { isObject } from "../../input/isObject.ts";
import { parseBoundedJson } from "../../input/jsonLimits.ts";
import { fetchBytes, type FetchOptions } from "../../transport/fetchBytes.ts";
import { monotonicNow, recoverable } from "../../transport/timeout.ts";
import { parseUrl } from "../../engine/parseUrl.ts";
import { addPath } from "../../transport/url.ts";
import { type Layouts, toNumber, type Update } from "./forks.ts";
import { applyUpdate, forkAt, type LightClientState, periodOf, slotAt, startAt, timeOf } from "./rules.ts";
import type { BeaconNetwork } from "./networks.ts";
import { checkAge, type CheckpointConfig } from "./checkpointAge.ts";
import { malformed, readUint64, type ValueOf } from "./ssz.ts";

/** The settings and the current state of a light client. */
export interface Following extends CheckpointConfig {
  /** The URLs of the Beacon API endpoints in the order of use. */
  urls: readonly string[];
  /** The current state of the light client. Undefined before the first bootstrap. */
  state: LightClientState | undefined;
  /** The checkpoint's slot. Undefined before the first bootstrap. */
  startSlot?: number;
  /** Called for each container that changed the state, with the slot of the container's first header. */
  onAccepted?: (kind: keyof Layouts, slot: number, value: object) => void;
}

/** The options of all requests, except the maximum size of a response. */
export type HttpOptions = Omit<FetchOptions, "maxBytes">;

/** Maximum size of a bootstrap or update in bytes. An update in JSON has about 58,000 bytes, mostly committee keys. */
const ITEM_BYTES = 2 ** 16;
/** Maximum number of updates in a response (`MAX_REQUEST_LIGHT_CLIENT_UPDATES`). */
const MAX_UPDATES = 128;
/**
 * The size of an update's length in bytes. After the length, each update has a fork digest, which is not authenticated.
 */
const LENGTH_BYTES = 8;
const DIGEST_BYTES = 4;
/** Maximum nesting depth of a JSON response: list, item, data, header, execution header and values. */
const MAX_DEPTH = 8;
/**
 * Maximum age of a finalized header in ms. If the header is older, the light client tries the next endpoint. Finality
 * takes about 15 minutes.
 */
const LATE_MS = 3_600_000;

/**
 * Follows the chain to the newest finalized header. `following.state` always contains a state that the rules accept,
 * even after an error. The next attempt continues from this state. A dishonest or broken endpoint can only delay the
 * result.
 * @throws VerificationError CHECKPOINT_TOO_OLD, LIGHT_CLIENT_INVALID, step "anchor"
 * @throws TransportError FORK_UNKNOWN, BEACON_ERROR, BEACON_ANSWER_INVALID, and the errors of `fetchBytes`
 */
export async function follow(following: Following, http: HttpOptions): Promise<LightClientState> {
  const { urls, network, now } = following;
  const errors: KeyrootError[] = [];
  const versions = new Set<string>();
  let answered: LightClientState | undefined;
  // Each endpoint gets an equal part of the time. If an endpoint does not respond, time remains for the other
  // endpoints.
  const timeoutMs = http.timeoutMs / (urls.length + 1);
  for (const [i, url] of urls.entries()) {
    // All requests to an endpoint share this time, because an endpoint may delay every response.
    const deadline = Math.min(http.deadline ?? Infinity, i === urls.length - 1 ? Infinity : monotonicNow() + timeoutMs);
    const limits = { ...http, timeoutMs, deadline };
    try {
      answered = await followEndpoint(following, new BeaconEndpoint(url, network, limits, versions));
      if (now() - timeOf(network, answered.slot) <= LATE_MS) return answered;
    } catch (error) {
      const failure = recoverable(error);
      if (failure.code === "CHECKPOINT_TOO_OLD") throw failure;
      errors.push(failure);
    }
  }
  if (answered !== undefined) return answered;
  for (const version of versions) {
    if (version === forkAt(network, slotAt(network, now())).name) continue;
    const message = `Beacon endpoints return data of the fork ${describeValue(version)}, which this version of keyroot does not support. Update keyroot.`;
    throw new TransportError("FORK_UNKNOWN", message, { actual: version, cause: errors[0] });
  }
  const [forgery] = errors.filter((error) => error instanceof VerificationError);
  throw forgery ?? errors[0] ?? new RangeError("There is no endpoint.");
}

/**
 * Follows the chain with one endpoint. Requests the bootstrap if necessary, the updates of past periods, and then the
 * newest finality update.
 */
async function followEndpoint(following: Following, endpoint: BeaconEndpoint): Promise<LightClientState> {
  const { network, checkpoint, now } = following;
  let state = following.state;
  if (state === undefined) {
    const bootstrap = await endpoint.fetchBootstrap(checkpoint);
    state = startAt(network, checkpoint, bootstrap);
    checkAge(following, state);
    following.state = state;
    following.startSlot = state.slot;
    following.onAccepted?.("bootstrap", state.slot, bootstrap);
  }
  const currentSlot = slotAt(network, now());
  const lastPeriod = periodOf(network, currentSlot) - 1;
  for (;;) {
    const start = periodOf(network, state.slot) + (state.next === undefined ? 0 : 1);
    if (start > lastPeriod) break;
    for (const update of await endpoint.fetchUpdates(start, Math.min(lastPeriod - start + 1, MAX_UPDATES))) {
      const next = applyUpdate(network, state, update, currentSlot);
      if (next === undefined) throw malformed("an update contains nothing new");
      following.state = state = next;
      following.onAccepted?.("update", toNumber(update.attested_header.beacon.slot), update);
    }
  }
  const update = await endpoint.fetchFinalityUpdate();
  const newest = applyUpdate(network, state, update, currentSlot);
  if (newest !== undefined)
    following.onAccepted?.("finality_update", toNumber(update.attested_header.beacon.slot), update);
  return (following.state = newest ?? state);
}

/** An endpoint of the Beacon API (github.com/ethereum/beacon-APIs, `apis/beacon/light_client`). */
class BeaconEndpoint {
  private readonly url: string;
  private readonly network: BeaconNetwork;
  private readonly http: HttpOptions;
  private readonly versions: Set<string>;

  /** @param versions collects the unauthenticated fork names in responses */
  constructor(url: string, network: BeaconNetwork, http: HttpOptions, versions: Set<string>) {
    this.url = parseUrl(url).href;
    this.network = network;
    this.http = http;
    this.versions = versions;
  }

  async fetchBootstrap(checkpoint: string): Promise<ValueOf<Layouts["bootstrap"]>> {
    return this.decode("bootstrap", await this.fetch(`bootstrap/${checkpoint}`));
  }

  async fetchFinalityUpdate(): Promise<Update> {
    return this.decode("finality_update", await this.fetch("finality_update"));
  }

  /** @returns from 1 to `count` updates */
  async fetchUpdates(start: number, count: number): Promise<Update[]> {
    const answer = await this.fetch(`updates?start_period=${start}&count=${count}`, count);
    const items: unknown[] = Array.isArray(answer) ? [...(answer as unknown[])] : [];
    for (let rest = answer; rest instanceof Uint8Array && rest.length > 0 && items.length <= count;) {
      if (rest.length < LENGTH_BYTES + DIGEST_BYTES) throw malformed("an update has no length");
      const end = LENGTH_BYTES + readUint64(rest);
      if (end > rest.length || end < LENGTH_BYTES + DIGEST_BYTES) throw malformed("an update has a false length");
      items.push(rest.subarray(LENGTH_BYTES + DIGEST_BYTES, end));
      rest = rest.subarray(end);
    }
    if (items.length === 0 || items.length > count)
      throw malformed(`it contains ${items.length} updates instead of 1 to ${count}`);
    return items.map((item) => this.decode("update", item));
  }

  /** @returns bytes for a response in SSZ, and an object or list for a response in JSON */
  private async fetch(path: string, items = 1): Promise<Uint8Array | object> {
    const url = addPath(this.url, `eth/v1/beacon/light_client/${path}`);
    const init = { headers: { Accept: "application/octet-stream;q=1,application/json;q=0.9" } };
    const maxBytes = items * ITEM_BYTES;
    const { status, headers, bytes } = await fetchBytes(url, init, { ...this.http, maxBytes });
    if (status !== 200) {
      const message = `${parseUrl(url).host} returned the HTTP status ${status} for ${path.replace(/[/?].*/, "")}.${status === 404 && path.startsWith("bootstrap") ? " Check the URL and the checkpoint." : ""}`;
      throw new TransportError("BEACON_ERROR", message, { actual: status });
    }
    this.note(headers.get("Eth-Consensus-Version"));
    if (headers.get("Content-Type")?.startsWith("application/octet-stream") === true) return bytes;
    try {
      const answer = parseBoundedJson(decodeUtf8(bytes), MAX_DEPTH, items);
      if (Array.isArray(answer) || isObject(answer)) return answer;
    } catch {
      // The response is not UTF-8, is not JSON, or has too many values.
    }
    throw malformed("neither SSZ nor JSON");
  }

  private note(version: unknown): void {
    if (typeof version === "string") this.versions.add(version.slice(0, 32).toLowerCase());
  }

  /** Decodes a light-client container. The slot of the container's first header determines the layout. */
  private decode<Kind extends keyof Layouts>(kind: Kind, item: unknown): ValueOf<Layouts[Kind]> {
    type Value = ValueOf<Layouts[Kind]>;
    if (item instanceof Uint8Array) return decodeSsz(this.network, kind, item);
    const { version, data } = isObject(item) ? item : {};
    this.note(version);
    const header = isObject(data) ? (data["attested_header"] ?? data["header"]) : undefined;
    const beacon = isObject(header) ? header["beacon"] : undefined;
    const slot = Number(isObject(beacon) ? beacon["slot"] : undefined);
    if (!Number.isSafeInteger(slot)) throw malformed("a header has no slot");
    return forkAt(this.network, slot).layouts[kind].fromJson(data) as Value;
  }
}

/**
 * Decodes a light-client container from SSZ. The slot of the first header determines the layout. Headers of a fixed
 * size are at the beginning. Other headers are at the first offset.
 */
export function decodeSsz<Kind extends keyof Layouts>(
  network: BeaconNetwork,
  kind: Kind,
  bytes: Uint8Array,
): ValueOf<Layouts[Kind]> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (const position of [0, bytes.length < 8 ? 0 : view.getUint32(0, true)]) {
    if (position + 8 > bytes.length) continue;
    const layout = forkAt(network, readUint64(bytes, position)).layouts[kind];
    if (layout.size === (position === 0 ? bytes.length : undefined))
      return layout.decode(bytes) as ValueOf<Layouts[Kind]>;
  }
  throw malformed("it contains no header of a known fork");
}
