import { expect } from "chai";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { follow, type Following, periodOf, timeOf } from "keyroot/internal/lightClient";
import {
  type BeaconAnswers,
  type BeaconServer,
  joinUpdates,
  serveBeacon,
  ssz,
  toBeaconJson,
} from "../../../support/beacon/beaconServer.ts";
import { mainnet, MAINNET_SAMPLES, splitUpdates } from "../../../support/beacon/mainnet.ts";
import { closedAfterEach, failure, never } from "../../../support/support.ts";
import { ENDLESS_MS } from "../../../support/endless.ts";

const [sample = never()] = MAINNET_SAMPLES;
const items = splitUpdates(sample.updatesBytes);
const [finality = never()] = items.slice(-1);
/** The newest update in the form of a finality update, which does not contain the next committee. */
const { fork } = sample;

/** Returns the updates for a request's periods, of which the first is for the sample's first period. */
function requested<T>(updates: readonly T[], { searchParams }: URL): T[] {
  const start = Number(searchParams.get("start_period")) - sample.period;
  return updates.slice(start, start + Number(searchParams.get("count")));
}

/** Converts an update to a finality update, and adjusts the offsets of its variable parts. */
async function finalityBytes(): Promise<Uint8Array> {
  const { FORKS } = await import("keyroot/internal/lightClient");
  return FORKS[fork].layouts.finality_update.encode(FORKS[fork].layouts.update.decode(finality));
}

describe("follow", () => {
  const closing = closedAfterEach();
  const [newest = never()] = sample.updates.slice(-1);
  const newestSlot = Number(Buffer.from(newest.finalized_header.beacon.slot).readBigUInt64LE());
  /** A time some minutes after the newest update. */
  const nowMs = timeOf(mainnet, newestSlot) + 1_200_000;
  let honest: BeaconAnswers;

  before(async () => {
    const bytes = await finalityBytes();
    honest = {
      bootstrap: ssz(sample.bootstrapBytes),
      updates: (response, url) => {
        ssz(joinUpdates(requested(items, url)))(response);
      },
      finality_update: ssz(bytes),
    };
  });

  const serve = async (answers: BeaconAnswers = {}) => closing(await serveBeacon({ ...honest, ...answers }));
  const following = (servers: readonly BeaconServer[], options: Partial<Following> = {}): Following => ({
    ...{ network: mainnet, checkpoint: sample.checkpoint, state: undefined, now: () => nowMs },
    ...{ maxCheckpointAgeMs: 30 * 86_400_000, urls: servers.map(({ url }) => url), ...options },
  });
  const http = { timeoutMs: ENDLESS_MS, allowHttp: true };
  const codeOf = async (answers: BeaconAnswers, options?: Partial<Following>) =>
    ((await failure(follow(following([await serve(answers)], options), http))) as { code: string }).code;

  it("follows mainnet over six periods to the newest finality update", async () => {
    const server = await serve();
    const state = await follow(following([server]), http);
    expect(state).to.include({ slot: newestSlot, participation: 511 });
    expect(server.requests).to.deep.equal([
      `/eth/v1/beacon/light_client/bootstrap/${sample.checkpoint}`,
      `/eth/v1/beacon/light_client/updates?start_period=1347&count=${periodOf(mainnet, newestSlot) - 1347}`,
      "/eth/v1/beacon/light_client/finality_update",
    ]);
  });

  it("requests only the finality update if the period is the same", async () => {
    const server = await serve();
    const later = following([server]);
    await follow(later, http);
    server.requests.length = 0;
    await follow(later, http);
    expect(server.requests).to.deep.equal(["/eth/v1/beacon/light_client/finality_update"]);
  });

  it("keeps the path and the query of an endpoint's URL", async () => {
    const server = await serve();
    await follow(following([], { urls: [`${server.url}/key?token=1`] }), http);
    expect(server.requests.every((path) => path.startsWith("/key/eth/v1/") && path.includes("token=1"))).to.equal(true);
  });

  it("reads responses in JSON", async () => {
    const { layouts } = (await import("keyroot/internal/lightClient")).FORKS[fork];
    const json = (data: unknown) => ({ version: "deneb", data: toBeaconJson(data) });
    const updates = sample.updates.map((update) => json(update));
    const server = await serve({
      bootstrap: (response) => response.end(JSON.stringify(json(sample.bootstrap))),
      updates: (response, url) => response.end(JSON.stringify(requested(updates, url))),
      finality_update: (response) => {
        void finalityBytes().then((bytes) => response.end(JSON.stringify(json(layouts.finality_update.decode(bytes)))));
      },
    });
    expect(await follow(following([server]), http)).to.include({ slot: newestSlot });
  });

  describe("with unusual responses", () => {
    it("ignores updates that it did not request", async () => {
      const more = { updates: ssz(joinUpdates([...items, ...items.slice(0, 1)])) };
      expect(await follow(following([await serve(more)]), http)).to.include({ slot: newestSlot });
    });

    it("ignores a surplus update in JSON, whatever it contains", async () => {
      const updates = sample.updates.map((update) => ({ version: fork, data: toBeaconJson(update) }));
      const server = await serve({
        updates: (response, url) => response.end(JSON.stringify([...requested(updates, url), { data: {} }])),
      });
      expect(await follow(following([server]), http)).to.include({ slot: newestSlot });
    });

    for (const type of ["binary/octet-stream", "Application/Octet-Stream; charset=binary"])
      it(`reads SSZ with the media type ${type}`, async () => {
        const answer = (bytes: Uint8Array) => (response: ServerResponse) =>
          void response.writeHead(200, { "Content-Type": type }).end(bytes);
        const server = await serve({
          bootstrap: answer(sample.bootstrapBytes),
          finality_update: answer(await finalityBytes()),
        });
        expect(await follow(following([server]), http)).to.include({ slot: newestSlot });
      });

    it("reads JSON that the endpoint indents", async () => {
      const text = JSON.stringify({ version: fork, data: toBeaconJson(sample.bootstrap) }, null, 8);
      const server = await serve({ bootstrap: (response) => response.end(text) });
      expect(text.length).to.be.above(2 ** 16);
      expect(await follow(following([server]), http)).to.include({ slot: newestSlot });
    });
  });

  describe("with false responses", () => {
    const end = (text: string, headers = {}): BeaconAnswers => ({
      finality_update: (response) => response.writeHead(200, headers).end(text),
    });
    const SSZ = { "Content-Type": "application/octet-stream" };
    const malformed: Record<string, BeaconAnswers> = {
      "text that is not JSON": end("<html>"),
      "JSON without data": end("{}"),
      "JSON that is a number": end("1"),
      "a list of null values": { updates: (response) => response.end("[null,null,null,null,null]") },
      "a slot above 2^53": end(JSON.stringify({ data: { attested_header: { beacon: { slot: "9".repeat(20) } } } })),
      "JSON that is nested too deeply": end("[".repeat(50) + "]".repeat(50)),
      "empty SSZ": end("", SSZ),
      "SSZ that ends early": end("abc", SSZ),
      "SSZ with offsets beyond its end": end("\xff".repeat(2000), SSZ),
      "an empty list of updates": { updates: ssz(new Uint8Array()) },
      "an update that is longer than the response": { updates: ssz(Buffer.alloc(64, 0x7f)) },
      "an update with the length 0": { updates: ssz(Buffer.alloc(64)) },
      "a repeated update": { updates: ssz(joinUpdates([items[0] ?? never(), items[0] ?? never()])) },
    };
    for (const [what, answers] of Object.entries(malformed))
      it(`throws BEACON_ANSWER_INVALID for ${what}`, async () => {
        expect(await codeOf(answers)).to.equal("BEACON_ANSWER_INVALID");
      });

    it("rejects SSZ in which all bytes are zero", async () => {
      expect(await codeOf(end("\0".repeat(2000), SSZ))).to.equal("LIGHT_CLIENT_INVALID");
    });

    it("rejects an endless list of updates", async () => {
      const endless: BeaconAnswers = {
        updates: (response) => {
          response.writeHead(200, SSZ);
          const more = () => {
            while (!response.destroyed && response.write(Buffer.alloc(2 ** 16)));
          };
          response.on("drain", more);
          more();
        },
      };
      expect(await codeOf(endless)).to.equal("ANSWER_TOO_LARGE");
    });

    it("rejects the error response of an endpoint", async () => {
      expect(await codeOf({ bootstrap: (response) => response.writeHead(500).end() })).to.equal("BEACON_ERROR");
    });

    it("names the checkpoint in the error if the endpoint does not have it", async () => {
      const server = await serve({ bootstrap: (response) => response.writeHead(404).end() });
      const error = (await failure(follow(following([server]), http))) as Error;
      expect(error).to.include({ code: "BEACON_ERROR", actual: 404 });
      expect(error.message).to.include("the HTTP status 404 for bootstrap. Check the URL and the checkpoint.");
    });

    it("rejects a redirect", async () => {
      const redirect: BeaconAnswers = {
        bootstrap: (response) => response.writeHead(302, { Location: "http://localhost:1/" }).end(),
      };
      expect(await codeOf(redirect)).to.equal("REDIRECT_REFUSED");
    });

    it("stops waiting for an endpoint that never responds", async () => {
      const server = await serve({ bootstrap: () => undefined });
      const error = await failure(follow(following([server]), { ...http, timeoutMs: 500 }));
      expect(error).to.include({ name: "TransportError", code: "TIMEOUT" });
    });

    it("rejects a bootstrap for another block", async () => {
      expect(await codeOf({}, { checkpoint: `0x${"1".repeat(64)}` })).to.equal("LIGHT_CLIENT_INVALID");
    });

    it("rejects updates in the wrong order", async () => {
      const reversed: BeaconAnswers = {
        updates: (response, url) => {
          ssz(joinUpdates(requested(items, url).reverse()))(response);
        },
      };
      expect(await codeOf(reversed)).to.equal("LIGHT_CLIENT_INVALID");
    });

    it("rejects an old checkpoint after one request", async () => {
      const servers = [await serve(), await serve()];
      const error = await failure(follow(following(servers, { maxCheckpointAgeMs: 86_400_000 }), http));
      expect(error).to.include({ name: "VerificationError", step: "anchor", code: "CHECKPOINT_TOO_OLD" });
      expect(servers[1]?.requests).to.deep.equal([]);
    });

    it("names the clock if the signatures are from the future", async () => {
      const now = () => timeOf(mainnet, newestSlot);
      const error = (await failure(follow(following([await serve()], { now }), http))) as Error;
      expect(error).to.include({ name: "VerificationError", code: "FUTURE_BLOCK", advice: "warn" });
      expect(error.message).to.include("Check this device's clock.");
    });

    it("names the clock if the checkpoint is too old", async () => {
      const now = () => nowMs + 365 * 86_400_000;
      const error = (await failure(follow(following([await serve()], { now }), http))) as Error;
      expect(error).to.include({ code: "CHECKPOINT_TOO_OLD" });
      expect(error.message).to.include(`this device's clock shows ${new Date(now()).toISOString()}`);
    });

    it("accepts signatures if the device's clock is up to two minutes behind", async () => {
      const signed = timeOf(mainnet, Number(Buffer.from(newest.signature_slot).readBigUInt64LE()));
      for (const behindMs of [2000, 60_000, 120_000]) {
        const now = () => signed - behindMs;
        expect(await follow(following([await serve()], { now }), http)).to.include({ slot: newestSlot });
      }
      expect(await codeOf({}, { now: () => signed - 120_001 })).to.equal("FUTURE_BLOCK");
    });
  });

  describe("with several endpoints", () => {
    const bad: Record<string, BeaconAnswers> = {
      "fails at once": { bootstrap: (response) => response.destroy() },
      "returns a false bootstrap": { bootstrap: ssz(MAINNET_SAMPLES[1]?.bootstrapBytes ?? never()) },
      "stops after the first update": {
        updates: ssz(joinUpdates(items.slice(0, 1))),
        finality_update: (response) => response.destroy(),
      },
      "names an unknown fork": { bootstrap: ssz(Buffer.alloc(100), "someday") },
    };
    for (const [what, answers] of Object.entries(bad))
      it(`uses the second endpoint if the first one ${what}`, async () => {
        const servers = [await serve(answers), await serve()];
        expect(await follow(following(servers), http)).to.include({ slot: newestSlot });
        expect(servers[1]?.requests).to.not.be.empty;
      });

    it("continues at the second endpoint where the first one stopped", async () => {
      const first = await serve({ finality_update: (response) => response.destroy() });
      const second = await serve();
      await follow(following([first, second]), http);
      expect(second.requests).to.deep.equal(["/eth/v1/beacon/light_client/finality_update"]);
    });

    it("uses the second endpoint if the first is an hour behind", async () => {
      const servers = [await serve(), await serve()];
      await follow(following(servers, { now: () => nowMs + 3_600_000 }), http);
      expect(servers[1]?.requests).to.deep.equal(["/eth/v1/beacon/light_client/finality_update"]);
    });

    it("reserves time for the second endpoint if the first never responds", async () => {
      const servers = [await serve({ bootstrap: () => undefined }), await serve()];
      expect(await follow(following(servers), { ...http, timeoutMs: 9000 })).to.include({ slot: newestSlot });
    });

    it("returns the second endpoint's header before the first one has responded", async () => {
      const { promise: answered, resolve } = Promise.withResolvers<undefined>();
      const slow = await serve({
        bootstrap: (response, url) => void answered.then(() => honest.bootstrap?.(response, url)),
      });
      const second = await serve();
      const both = following([slow, second]);
      expect(await follow(both, http)).to.include({ slot: newestSlot });
      resolve(undefined);
      // The next search begins at the endpoint that responded.
      expect(both.urls).to.deep.equal([second.url, slow.url]);
    });

    it("reports FORK_UNKNOWN if a response of an unknown fork cannot be decoded", async () => {
      const unknown: BeaconAnswers = { finality_update: ssz(Buffer.alloc(100, 0xff), "someday") };
      const servers = [await serve(unknown), await serve({ finality_update: (response) => response.destroy() })];
      const error = await failure(follow(following(servers), http));
      expect(error).to.include({ name: "TransportError", code: "FORK_UNKNOWN", actual: "someday" });
      expect(error).to.have.nested.property("cause.code", "BEACON_ANSWER_INVALID");
      expect(String(error)).to.include("Update keyroot");
    });

    it("reports a forged update as false, whatever fork the endpoint names", async () => {
      const [first = never()] = items;
      const forged = Buffer.from(first);
      forged[forged.length - 20] = (forged[forged.length - 20] ?? 0) ^ 1;
      const updates = (version: string) => ssz(joinUpdates([forged]), version);
      for (const version of ["deneb", "fulu", "someday"]) {
        const error = await failure(follow(following([await serve({ updates: updates(version) })]), http));
        expect(error).to.include({ name: "VerificationError", code: "LIGHT_CLIENT_INVALID", advice: "warn" });
        expect(String(error).includes("someday")).to.equal(version === "someday");
      }
    });

    it("reports the true error if an endpoint names a known fork other than today's", async () => {
      const servers = [await serve({ finality_update: (response) => response.writeHead(500).end() })];
      const now = () => timeOf(mainnet, 420_000 * 32);
      const old = following(servers, { now, maxCheckpointAgeMs: 10_000 * 86_400_000 });
      expect(await failure(follow(old, http))).to.include({ code: "BEACON_ANSWER_INVALID" });
      expect(await codeOf({ finality_update: ssz(Buffer.alloc(100, 0xff), "fulu") })).to.equal("BEACON_ANSWER_INVALID");
      expect(await codeOf({ bootstrap: ssz(Buffer.alloc(9, 0xff), "altair") })).to.equal("BEACON_ANSWER_INVALID");
    });

    it("reports a false response before a missing response", async () => {
      const servers = [
        await serve({ bootstrap: (response) => response.destroy() }),
        await serve({ bootstrap: ssz(MAINNET_SAMPLES[1]?.bootstrapBytes ?? never()) }),
      ];
      expect(await failure(follow(following(servers), http))).to.include({ code: "LIGHT_CLIENT_INVALID" });
    });

    it("ends when the caller aborts", async () => {
      const silent = await serve({ bootstrap: () => undefined });
      const aborting = new AbortController();
      const ended = failure(follow(following([silent, silent]), { ...http, signal: aborting.signal }));
      while (silent.requests.length === 0) await sleep(5);
      aborting.abort();
      expect(await ended).to.include({ code: "ABORTED" });
      expect(silent.requests).to.have.lengthOf(1);
    });
  });
});
