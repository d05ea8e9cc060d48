import { expect } from "chai";
import { ArgumentError } from "../../../packages/keyroot/src/errors.ts";
import type { Eip1193Provider } from "../../../packages/keyroot/src/transport/jsonRpc.ts";
import { verifyPublicKey } from "../../../packages/keyroot/src/verifier/verifyPublicKey.ts";
import { sampleUserID } from "../../../fixtures/samples.ts";
import { failure } from "../../support/support.ts";

const HASH = `0x${"0".repeat(64)}`;

describe("the options for evidence", () => {
  const fail = () => Promise.reject(new Error("There was a request."));
  const provider: Eip1193Provider = { request: fail };
  const twice = (...rpc: unknown[]) => ({ rpc, quorum: 1 });
  const invalid: [string, Record<string, unknown>][] = [
    ["several endpoints without a quorum", { rpc: ["http://a.example", "http://b.example"] }],
    ["no endpoint", { rpc: [] }],
    ["no endpoint for a quorum", { rpc: [], quorum: 1 }],
    ["a quorum of 0", { rpc: ["http://a.example"], quorum: 0 }],
    ["a quorum of more than all endpoints", { rpc: ["http://a.example"], quorum: 2 }],
    ["a quorum that is not a whole number", { rpc: ["http://a.example", "http://b.example"], quorum: 1.5 }],
    ["a URL twice", twice("http://a.example", "http://a.example")],
    ["a URL twice, with a slash at the end", twice("http://a.example/x", "http://a.example/x/")],
    ["a URL twice, in upper case", twice("http://a.example", "HTTP://A.EXAMPLE")],
    ["a URL twice, with its port", twice("https://a.example", "https://a.example:443")],
    ["a URL twice, with a dot after the host", twice("https://a.example:1", "https://a.example.:1")],
    ["a URL twice, with a query", twice("https://a.example", "https://a.example?")],
    ["a URL twice, with a fragment", twice("https://a.example", "https://a.example#b")],
    ["a URL twice, without TLS", twice("https://a.example", "http://a.example")],
    ["a URL twice, with spaces", twice("https://a.example", " https://a.example ")],
    ["two keys for one host", twice("https://a.example/key1", "https://a.example/key2")],
    ["a provider twice", twice(provider, provider)],
    ["a quorum and a pinned block", { rpc: ["http://a.example"], quorum: 1, blockHash: HASH }],
    ["a quorum and a light client", { rpc: ["http://a.example"], quorum: 1, lightClient: true }],
    ["a pinned block and a light client", { blockHash: HASH, lightClient: true }],
    ["a pinned block and a tag", { blockHash: HASH, block: "finalized" }],
    ["a pinned block in upper case", { blockHash: `0x${"A".repeat(64)}` }],
    ["a pinned block's number", { blockHash: "0x1" }],
    ["null for a pinned block", { blockHash: null }],
    ["null for a quorum", { quorum: null }],
    ["null for a storage proof", { storageProof: null }],
    ["text for a storage proof", { storageProof: "no" }],
    ["text for a light client", { lightClient: "false" }],
    ["an unknown tag", { block: "pending" }],
    ["a number for a tag", { block: 1 }],
    ["a negative age", { maxAgeMs: -1 }],
    ["an age that is NaN", { maxAgeMs: NaN }],
    ["a negative slot", { usersSlot: -1 }],
    ["a slot above 2^53", { usersSlot: 2 ** 53 }],
  ];
  for (const [what, options] of invalid) {
    it(`are refused before any request: ${what}`, async () => {
      const place = { rpc: provider, chainId: 1, contract: `0x${"12".repeat(20)}`, merkleUrl: "http://files.example" };
      expect(await failure(verifyPublicKey(sampleUserID(1), { ...place, fetch: fail, ...options })))
        .to.be.an.instanceof(ArgumentError)
        .and.include({ code: "ARGUMENT_INVALID" });
    });
  }
});
