import { expect } from "chai";
import { createVerifier, oneEndpoint, type Trust } from "keyroot";
import { auditors } from "keyroot/auditors";
import { lightClient } from "keyroot/light-client";
import { fetchAccountFile } from "../../../packages/keyroot/src/transport/fetchAccountFile.ts";
import { testAuditors } from "../../support/auditors/testAuditor.ts";
import { sampleRecords } from "../../support/samples.ts";
import { failure } from "../../support/support.ts";

describe("requests for what may change", () => {
  const [record] = sampleRecords(1);
  /** The value of the cache field, by the host of the request. */
  const cacheOf = new Map<string, unknown>();
  const fetch: typeof globalThis.fetch = (url, init) => {
    cacheOf.set(new URL(url as string).host, init?.cache);
    return Promise.resolve(new Response("", { status: 503 }));
  };
  beforeEach(() => {
    cacheOf.clear();
  });

  async function requestsWith(trust: Trust): Promise<object> {
    const place = { rpc: "https://rpc.example", chainId: 1, contract: `0x${"5e".repeat(20)}` };
    const verifier = createVerifier({ ...place, merkleUrl: "https://files.example", trust, fetch });
    await failure(verifier.verify(record?.userID ?? "", { expectedPublicKey: record?.pubKey ?? "" }));
    return Object.fromEntries(cacheOf);
  }

  it("to RPC endpoints are never cached", async () => {
    expect(await requestsWith(oneEndpoint())).to.deep.equal({ "rpc.example": "no-store" });
  });

  it("to beacon endpoints are never cached", async () => {
    const trust = lightClient({ urls: ["https://beacon.example"], checkpoint: `0x${"11".repeat(32)}` });
    expect(await requestsWith(trust)).to.include({ "beacon.example": "no-store" });
  });

  it("for auditors' statements are never cached", async () => {
    const keys = testAuditors("a").map(({ key }) => key);
    expect(await requestsWith(auditors({ keys, threshold: 1, urls: ["https://a.example"] }))).to.include({
      "a.example": "no-store",
    });
  });

  it("for account files are never cached", async () => {
    const options = { fetch, maxBytes: 1000, timeoutMs: 60_000 };
    await failure(fetchAccountFile("https://files.example", "00".repeat(20), options));
    expect(Object.fromEntries(cacheOf)).to.deep.equal({ "files.example": "no-store" });
  });
});
