import { expect } from "chai";
import { inspect } from "node:util";
import { ArgumentError } from "../../../packages/keyroot/src/errors.ts";
import type { Eip1193Provider } from "../../../packages/keyroot/src/transport/jsonRpc.ts";
import { verifyPublicKey } from "../../../packages/keyroot/src/verifier/verifyPublicKey.ts";
import { userIDToHex } from "../../../packages/keyroot/src/identity/userID.ts";
import { sampleUserID } from "../../../fixtures/samples.ts";
import { failure } from "../../support/support.ts";

const userID = sampleUserID(1);
const HASH = `0x${"0".repeat(64)}`;

describe("the options of a verification", () => {
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
  const place = { rpc: provider, chainId: 1, contract: `0x${"12".repeat(20)}`, merkleUrl: "http://files.example" };
  const errorOf = (options: Record<string, unknown>, user = userID) =>
    failure(verifyPublicKey(user, { ...place, fetch: fail, ...options }));

  for (const [what, options] of invalid) {
    it(`are refused before any request: ${what}`, async () => {
      expect(await errorOf(options))
        .to.be.an.instanceof(ArgumentError)
        .and.include({ code: "ARGUMENT_INVALID" });
    });
  }

  const malformed: [string, Record<string, unknown>][] = [
    ["ARGUMENT_INVALID", { rpc: "wss://rpc.example" }],
    ["ARGUMENT_INVALID", { rpc: undefined }],
    ["ARGUMENT_INVALID", { rpc: {} }],
    ["ARGUMENT_INVALID", { merkleUrl: "/files" }],
    ["ARGUMENT_INVALID", { merkleUrl: "http://user:password@127.0.0.1" }],
    ["ARGUMENT_INVALID", { merkleUrl: undefined }],
    ["ARGUMENT_INVALID", { chainId: 0 }],
    ["ARGUMENT_INVALID", { chainId: 1.5 }],
    ["ARGUMENT_INVALID", { chainId: "1" }],
    ["ARGUMENT_INVALID", { contract: "0x12" }],
    ["ARGUMENT_INVALID", { contract: undefined }],
    ["ARGUMENT_INVALID", { codeHash: `0x${"A".repeat(64)}` }],
    ["ARGUMENT_INVALID", { codeHash: null }],
    ["ARGUMENT_INVALID", { limits: { fileBytes: 0 } }],
    ["ARGUMENT_INVALID", { limits: { rpcBytes: Infinity } }],
    ["ARGUMENT_INVALID", { limits: { timeoutMs: 2 ** 31 } }],
    ["BASE64_INVALID", { expectedPublicKey: "BA=" }],
    ["PUBLIC_KEY_LENGTH", { expectedPublicKey: "" }],
    ["PUBLIC_KEY_LENGTH", { expectedPublicKey: null }],
    ["PUBLIC_KEY_LENGTH", { expectedPublicKey: new Uint8Array(104) }],
    ["PUBLIC_KEY_LENGTH", { expectedPublicKey: new Array(105).fill(4) }],
  ];
  for (const [code, options] of malformed) {
    const shown = inspect(options, { breakLength: Infinity, maxStringLength: 24, maxArrayLength: 3 });
    it(`are refused with ${code} before any request: ${shown}`, async () => {
      expect(await errorOf(options))
        .to.be.an.instanceof(ArgumentError)
        .and.include({ code });
    });
  }

  it("are refused with USER_ID_INVALID before any request for a user id in any other form", async () => {
    for (const user of [userID.toUpperCase(), userIDToHex(userID), ` ${userID}`, "", null as never]) {
      expect(await errorOf({}, user))
        .to.be.an.instanceof(ArgumentError)
        .and.include({ code: "USER_ID_INVALID" });
    }
  });
});
