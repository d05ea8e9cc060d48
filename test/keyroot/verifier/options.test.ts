import { expect } from "chai";
import {
  ANY_KEY,
  ArgumentError,
  type Eip1193Provider,
  userIDToHex,
  endpoints,
  oneEndpoint,
  ownNode,
  pinnedBlock,
} from "keyroot";
import { sampleUserID } from "../../support/samples.ts";
import { failure } from "../../support/support.ts";
import { verifyOnce } from "../../support/verifier/verifyOnce.ts";

const userID = sampleUserID(1);
describe("options of a verification", () => {
  const fail = () => Promise.reject(new Error("There was a request."));
  const provider: Eip1193Provider = { request: fail };
  const twice = (...rpc: unknown[]) => ({ rpc, trust: endpoints({ required: 1 }) });
  const invalid: [string, Record<string, unknown>][] = [
    ["several endpoints, but trust in one", { rpc: ["https://a.example", "https://b.example"] }],
    ["several endpoints, but trust in a node", { rpc: ["https://a.example", "https://b.example"], trust: ownNode() }],
    ["no endpoint", { rpc: [] }],
    ["no endpoint for several", { rpc: [], trust: endpoints({ required: 1 }) }],
    ["fewer endpoints than must agree", { rpc: ["https://a.example"], trust: endpoints({ required: 2 }) }],
    ["no trust", { trust: null }],
    ["trust that is a name", { trust: "one-endpoint" }],
    ["trust that another library made", { trust: { name: "one-endpoint" } }],
    ["trust that is a copy", { trust: { ...ownNode() } }],
    ["a repeated URL", twice("https://a.example", "https://a.example")],
    ["a repeated URL without TLS", { ...twice("https://a.example", "http://a.example"), allowHttp: true }],
    ["a repeated URL with spaces", twice("https://a.example", " https://a.example ")],
    ["the same host in Unicode and in ASCII", twice("https://bücher.example", "https://xn--bcher-kva.example")],
    ["localhost and 127.0.0.1 as two endpoints", twice("http://localhost:8545", "http://127.0.0.1:8545")],
    ["plain http to another machine", { rpc: "http://rpc.example" }],
    ["plain http to one of several endpoints", twice("https://a.example", "http://b.example")],
    ["plain http to the file host", { merkleUrl: "http://files.example" }],
    ["two API keys for the same host", twice("https://a.example/key1", "https://a.example/key2")],
    ["a repeated provider", twice(provider, provider)],
  ];
  const place = { rpc: provider, chainId: 1, contract: `0x${"12".repeat(20)}`, merkleUrl: "https://files.example" };
  const errorOf = (options: Record<string, unknown>, user = userID) =>
    failure(verifyOnce(user, { ...place, expectedPublicKey: ANY_KEY, fetch: fail, ...options }));

  for (const [what, options] of invalid) {
    it(`are rejected before any request with ${what}`, async () => {
      expect(await errorOf(options))
        .to.be.an.instanceof(ArgumentError)
        .and.include({ code: "ARGUMENT_INVALID" });
    });
  }

  it("allow http to other machines only with allowHttp", async () => {
    const remote = { rpc: "http://rpc.example", merkleUrl: "http://files.example" };
    const error = await errorOf(remote);
    expect(error)
      .to.have.property("message")
      .that.matches(/example.*set allowHttp, /);
    expect(await errorOf({ ...remote, allowHttp: true })).to.include({ code: "UNREACHABLE" });
    for (const host of ["localhost", "127.0.0.1", "127.9.9.9", "[::1]", "[::ffff:127.0.0.1]", "a.localhost"]) {
      expect(await errorOf({ rpc: `http://${host}:1` }), host).to.include({ code: "UNREACHABLE" });
    }
  });

  it("distinguish nodes on this machine by their ports", async () => {
    const options = { rpc: ["http://127.0.0.1:1", "http://localhost:2"], trust: endpoints({ required: 2 }) };
    expect(await errorOf(options)).to.include({ code: "QUORUM_NOT_REACHED" });
  });

  for (const name of ["trusts", "merkleURL", "codehash", "quorum", "storageProof", "__proto", "x".repeat(100_000)]) {
    it(`are rejected with the unknown name ${name.slice(0, 20)}`, async () => {
      const error = await errorOf({ [name]: true });
      expect(error).to.be.an.instanceof(ArgumentError).and.include({ code: "ARGUMENT_INVALID", actual: name });
      expect(error).to.have.property("message").that.includes("Valid options are rpc, ").and.has.length.below(500);
    });
  }

  it("are rejected with a misspelled limit", async () => {
    expect(await errorOf({ limits: { timeoutMS: 5 } })).to.include({ expected: "fileBytes, timeoutMs" });
  });

  it("are rejected before any request with a malformed value", async () => {
    const malformed: [string, Record<string, unknown>[]][] = [
      ["ARGUMENT_INVALID", [{ rpc: "wss://rpc.example" }, { merkleUrl: "http://user:password@127.0.0.1" }]],
      ["ARGUMENT_INVALID", [{ merkleUrl: "/files" }, { chainId: 0 }, { chainId: 1.5 }, { contract: "0x12" }]],
      ["ARGUMENT_INVALID", [{ codeHash: `0x${"A".repeat(64)}` }, { limits: { fileBytes: 0 } }]],
      ["ARGUMENT_INVALID", [{ limits: { timeoutMs: 2 ** 31 } }]],
      ["BASE64_INVALID", [{ expectedPublicKey: "BA=" }]],
      ["PUBLIC_KEY_LENGTH", [{ expectedPublicKey: "" }, { expectedPublicKey: new Uint8Array(104) }]],
      ["ARGUMENT_INVALID", [{ expectedPublicKey: null }, { expectedPublicKey: new Array(105).fill(4) }]],
    ];
    for (const [code, values] of malformed)
      for (const options of values)
        expect(await errorOf(options), Object.keys(options).join()).to.include({ name: "ArgumentError", code });
  });

  it("are rejected before any request with an invalid user id", async () => {
    for (const user of [userID.toUpperCase(), userIDToHex(userID), ` ${userID}`, "", null as never]) {
      expect(await errorOf({}, user))
        .to.be.an.instanceof(ArgumentError)
        .and.include({ code: "USER_ID_INVALID" });
    }
  });

  it("of a choice of trust are checked when it is made", () => {
    const wrong: Record<string, () => unknown> = {
      "a number of endpoints of 0": () => endpoints({ required: 0 }),
      "a number of endpoints that is not whole": () => endpoints({ required: 1.5 }),
      "no number of endpoints": () => endpoints({} as never),
      "a pinned block in upper case": () => pinnedBlock(`0x${"A".repeat(64)}`),
      "a pinned block's number": () => pinnedBlock("0x1"),
      "no pinned block": () => pinnedBlock(undefined as never),
      "an unknown tag": () => oneEndpoint({ block: "pending" as never }),
      "a negative age": () => ownNode({ maxAgeMs: -1 }),
      "a misspelled name": () => oneEndpoint({ maxAgeMS: 5 } as never),
      "options that are not an object": () => ownNode(null as never),
    };
    for (const [what, make] of Object.entries(wrong))
      expect(make, what).to.throw(ArgumentError).with.include({ code: "ARGUMENT_INVALID" });
  });
});
