import { expect } from "chai";
import hre from "hardhat";
import {
  audit,
  AuditState,
  executeBySafe,
  fetchFromHost,
  makePlan,
  pollEvents,
  publish,
  RecordTable,
  Registry,
  watch,
} from "../../../packages/operator/src/index.ts";
import { startService } from "../../../packages/service/src/index.ts";
import { startFileHost, startLocalChain, startStack } from "../../../packages/service/src/stack/index.ts";
import { sampleRecords } from "../../support/samples.ts";
import { failure } from "../../support/support.ts";

/** A function without argument types, as in plain JavaScript. */
type Loose = (...args: unknown[]) => unknown;

const records = sampleRecords(1);
const contract = `0x${"12".repeat(20)}`;
const files = { merkleUrl: "https://files.example", maxBytes: 1, timeoutMs: 1 };
const polled = { chainId: 1, contract, call: unused, files, users: [], tag: "latest", state: {} };
const call = (fn: unknown, ...args: unknown[]) => (fn as Loose)(...args);
const retry = { retries: 0, initialDelayMs: 1, retrys: 2 };

/** Calls of each function with a misspelled option, and the meant one. */
const MISSPELT: [string, () => unknown, string][] = [
  ["publish", () => call(publish, records, { usersPerfile: 3 }), "usersPerFile"],
  ["publish in sending", () => call(publish, records, { sending: { inflight: 3 } }), "inFlight"],
  [
    "publish in limits",
    () => call(publish, records, { chainId: 1, limits: { maxFeePerGas: 1n, maxcost: 1n } }),
    "maxCost",
  ],
  ["publish in finality", () => call(publish, records, { finality: { confirmation: 6 } }), "confirmations"],
  [
    "makePlan",
    () => call(makePlan, RecordTable.of(records), {}, { usersPerFile: 1, onprogress: unused }),
    "onProgress",
  ],
  ["executeBySafe", () => call(executeBySafe, [], {}, { dir: "", onfiles: unused }), "onFiles"],
  ["fetchFromHost", () => call(fetchFromHost, "https://files.example", { allowhttp: true }), "allowHttp"],
  ["Registry.connect", () => Registry.connect(unused, contract, retry), "retries"],
  ["audit", () => call(audit, { call: unused, files, storageproof: true }), "storageProof"],
  ["audit in files", () => call(audit, { call: unused, files: { ...files, maxbytes: 1 } }), "maxBytes"],
  ["pollEvents", () => call(pollEvents, { ...polled, rereadAfter: 0 }), "rereadAfterMs"],
  ["pollEvents in files", () => call(pollEvents, { ...polled, files: { ...files, timeoutMS: 1 } }), "timeoutMs"],
  ["watch", () => (call(watch, { ...polled, interval: 1 }) as AsyncGenerator).next(), "intervalMs"],
  [
    "AuditState.open",
    () => AuditState.open("state", { chainId: 1, genesisHash: "0x", contract }, { fresch: 1 } as never),
    "fresh",
  ],
  ["startFileHost", () => call(startFileHost, { dir: "", port: 0, hots: "" }), "host"],
  ["startLocalChain", () => call(startLocalChain, hre, { prot: 0 }), "port"],
  ["startStack", () => call(startStack, hre, { anounce: true }), "announce"],
];

describe("the functions of @keyroot/operator", () => {
  for (const [name, misspelt, meant] of MISSPELT) {
    it(`reject a misspelled option of ${name}, and list ${meant}`, async () => {
      const error = await failure(Promise.resolve().then(misspelt));
      expect(error).to.include({ name: "ArgumentError", code: "ARGUMENT_INVALID" });
      expect((error as { expected: string }).expected.split(", ")).to.include(meant);
    });
  }

  it("reject an invalid finality before they send anything", async () => {
    for (const finality of [
      "finalised",
      null,
      {},
      ...[0, -1, 1.5, NaN, "6"].map((confirmations) => ({ confirmations })),
    ]) {
      const error = await failure(Promise.resolve(call(publish, records, { finality })));
      expect(error, JSON.stringify(finality)).to.include({ code: "ARGUMENT_INVALID" });
      expect(error).to.have.property("message").that.includes("The finality option must be");
    }
  });

  it("reject a misspelled field of the service's configuration", async () => {
    const error = await failure(startService({ databaseURL: "postgres://localhost/none" } as never));
    expect(error).to.include({ code: "CONFIGURATION_INVALID" });
    expect(error).to.have.property("message").that.includes("databaseURL is not a field").and.includes("databaseUrl?");
  });

  it("reject http to a file host on another machine", async () => {
    const remote = { ...files, merkleUrl: "http://files.example" };
    for (const run of [
      () => fetchFromHost(remote.merkleUrl),
      () => call(audit, { call: unused, files: remote }),
      () => call(pollEvents, { ...polled, rereadAfterMs: 0, files: remote }),
    ]) {
      const error = await failure(Promise.resolve().then(run));
      expect(error).to.include({ name: "ArgumentError", code: "ARGUMENT_INVALID" });
      expect(error).to.have.property("message").that.includes("set allowHttp");
    }
    expect(fetchFromHost(remote.merkleUrl, { allowHttp: true })).to.be.a("function");
  });
});

function unused(): Promise<never> {
  throw new Error("Nothing may be requested.");
}
