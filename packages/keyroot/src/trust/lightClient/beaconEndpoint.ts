import { hasOwn } from "../../engine/language.ts";
import { parseUrl } from "../../engine/parseUrl.ts";
import { decodeUtf8 } from "../../engine/utf8.ts";
import { type KeyrootError, TransportError, VerificationError } from "../../errors.ts";
import { describeValue, isObject } from "../../input/values.ts";
import { parseBoundedJson } from "../../input/jsonLimits.ts";
import { fetchBytes, type FetchOptions } from "../../transport/fetchBytes.ts";
import { addPath } from "../../transport/url.ts";
import type { Layouts, Update } from "./forks.ts";
import type { BeaconNetwork } from "./networks.ts";
import { forkAt } from "./rules.ts";
import { malformed, readUint64, type ValueOf } from "./ssz.ts";

/** The options of all requests, except the maximum size of a response. */
export type HttpOptions = Omit<FetchOptions, "maxBytes">;

/**
 * Maximum size of a bootstrap or an update in bytes. An update in JSON has about 58,000 bytes, most of them for the
 * committee's keys. It is larger if the endpoint indents the JSON.
 */
const ITEM_BYTES = 2 ** 17;
/** The number of bytes that encode the length of an update, before its fork digest, which is not authenticated. */
const LENGTH_BYTES = 8;
const DIGEST_BYTES = 4;
/** Maximum nesting depth of a JSON response: list, item, data, header, execution header and values. */
const MAX_DEPTH = 8;

/** An endpoint of the Beacon API (github.com/ethereum/beacon-APIs, `apis/beacon/light_client`). */
export class BeaconEndpoint {
  private readonly url: string;
  private readonly network: BeaconNetwork;
  private readonly http: HttpOptions;
  /** A fork that the endpoint named and the network's table lacks. The name is not authenticated. */
  private unknownFork: string | undefined;

  constructor(url: string, network: BeaconNetwork, http: HttpOptions) {
    this.url = parseUrl(url).href;
    this.network = network;
    this.http = http;
  }

  /**
   * Explains a failure if the endpoint named a fork that this version does not support. If a response could not be
   * decoded, the result is FORK_UNKNOWN. If a response was false, the result is LIGHT_CLIENT_INVALID with the fork in
   * the message. Any other error is returned unchanged.
   */
  explain(failure: KeyrootError): KeyrootError {
    if (this.unknownFork === undefined) return failure;
    const fork = `data of the fork ${describeValue(this.unknownFork)}, which this version of keyroot does not support`;
    if (failure.code === "BEACON_ANSWER_INVALID") {
      const message = `A beacon endpoint returns ${fork}. Update keyroot.`;
      return new TransportError("FORK_UNKNOWN", message, { actual: this.unknownFork, cause: failure });
    }
    if (failure.code !== "LIGHT_CLIENT_INVALID") return failure;
    const message = `${failure.message} The endpoint claims to return ${fork}. Update keyroot, or use another endpoint.`;
    return new VerificationError("anchor", "LIGHT_CLIENT_INVALID", message, { cause: failure });
  }

  async fetchBootstrap(checkpoint: string): Promise<ValueOf<Layouts["bootstrap"]>> {
    return this.decode("bootstrap", await this.fetch(`bootstrap/${checkpoint}`));
  }

  async fetchFinalityUpdate(): Promise<Update> {
    return this.decode("finality_update", await this.fetch("finality_update"));
  }

  /** @returns from 1 to `count` updates. Some endpoints return one more than requested, which is ignored. */
  async fetchUpdates(start: number, count: number): Promise<Update[]> {
    const answer = await this.fetch(`updates?start_period=${start}&count=${count}`, count + 1);
    const items: unknown[] = Array.isArray(answer) ? [...(answer as unknown[])] : [];
    for (let rest = answer; rest instanceof Uint8Array && rest.length > 0 && items.length < count;) {
      if (rest.length < LENGTH_BYTES + DIGEST_BYTES) throw malformed("an update has no length");
      const end = LENGTH_BYTES + readUint64(rest);
      if (end > rest.length || end < LENGTH_BYTES + DIGEST_BYTES) throw malformed("an update has a false length");
      items.push(rest.subarray(LENGTH_BYTES + DIGEST_BYTES, end));
      rest = rest.subarray(end);
    }
    if (items.length === 0) throw malformed("it contains no updates");
    return items.slice(0, count).map((item) => this.decode("update", item));
  }

  /** @returns bytes for a response in SSZ, and an object or list for a response in JSON */
  private async fetch(path: string, items = 1): Promise<Uint8Array | object> {
    const url = addPath(this.url, `eth/v1/beacon/light_client/${path}`);
    const init: RequestInit = {
      cache: "no-store",
      headers: { Accept: "application/octet-stream;q=1,application/json;q=0.9" },
    };
    const maxBytes = items * ITEM_BYTES;
    const { status, headers, bytes } = await fetchBytes(url, init, { ...this.http, maxBytes });
    if (status !== 200) {
      const message = `${parseUrl(url).host} returned the HTTP status ${status} for ${path.replace(/[/?].*/, "")}.${status === 404 && path.startsWith("bootstrap") ? " Check the URL and the checkpoint." : ""}`;
      throw new TransportError("BEACON_ERROR", message, { actual: status });
    }
    this.note(headers.get("Eth-Consensus-Version"));
    if (/^(?:application|binary)\/octet-stream\b/i.test(headers.get("Content-Type") ?? "")) return bytes;
    try {
      const answer = parseBoundedJson(decodeUtf8(bytes), MAX_DEPTH, items);
      if (Array.isArray(answer) || isObject(answer)) return answer;
    } catch {
      // The response is not UTF-8, is not JSON, or has too many values.
    }
    throw malformed("neither SSZ nor JSON");
  }

  private note(version: unknown): void {
    const name = typeof version === "string" ? version.slice(0, 32).toLowerCase() : undefined;
    if (name !== undefined && !hasOwn(this.network.forks, name)) this.unknownFork = name;
  }

  /** Decodes a light-client container, whose layout depends on the slot of its first header. */
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
 * Decodes a light-client container from SSZ. Its layout depends on the slot of its first header. If headers have a
 * fixed size, the first header is at the beginning. Otherwise, it is at the first offset.
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
