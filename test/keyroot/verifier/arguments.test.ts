import { expect } from "chai";
import fc from "fast-check";
import { inspect } from "node:util";
import {
  ANY_KEY,
  createVerifier,
  type KeyRecord,
  type Verifier,
  type VerifierOptions,
  type WatchKeysOptions,
  oneEndpoint,
  pinnedBlock,
} from "keyroot";
import { makeMerkleFile, makeMerkleProof } from "keyroot/merkle";
import { makeBundle, parseBundle, verifyBundle } from "keyroot/bundle";
import { CONTRACT, plainBundle } from "../../support/data/plainBundle.ts";
import { sampleRecords } from "../../support/samples.ts";
import { junk, keyrootErrorOf, WRONG_VALUES } from "../../support/data/junk.ts";
import { cannedAnswers } from "../../support/data/cannedAnswers.ts";
import { verifyOnce, verifyListOnce } from "../../support/verifier/verifyOnce.ts";

/** A function that takes any arguments, as in plain JavaScript. */
type Loose = (...args: unknown[]) => Promise<unknown>;
type Options = Record<string, unknown>;

describe("arguments of the verifier", () => {
  const file = makeMerkleFile(sampleRecords(3));
  const [{ userID }] = file.records as [KeyRecord];
  const { answers, fetchFrom, options: place } = cannedAnswers(file);
  const { bundle, pinned } = plainBundle(makeMerkleProof(file, userID));

  /** Returns valid options that count the requests. */
  const counted = () => {
    const state = { requests: 0, options: {} as Options };
    const answer = fetchFrom(answers);
    const fetch: typeof globalThis.fetch = (...request) => {
      state.requests++;
      return answer(...request);
    };
    state.options = { ...place, trust: oneEndpoint(), fetch, limits: { timeoutMs: 1000 } };
    return state;
  };

  const create = async (options: unknown) =>
    Promise.resolve((createVerifier as (options: unknown) => unknown)(options));

  /** Functions to test. Each takes its options as the only argument. */
  const functions: Record<string, (options: unknown) => Promise<unknown>> = {
    verify: (options) =>
      isPlainObject(options)
        ? (verifyOnce as Loose)(userID, { expectedPublicKey: ANY_KEY, ...(options as Options) })
        : create(options),
    verifyMany: (options) =>
      isPlainObject(options)
        ? (verifyListOnce as Loose)([{ userID, expectedPublicKey: ANY_KEY }], options)
        : create(options),
    makeBundle: (options) => (makeBundle as Loose)(userID, options),
    verifyBundle: (options) => (verifyBundle as Loose)(bundle, options),
  };
  const bundleQuery = {
    userID,
    chainId: 1,
    contract: CONTRACT,
    expectedPublicKey: ANY_KEY,
    trust: pinnedBlock(pinned),
  };

  for (const [name, call] of Object.entries(functions)) {
    describe(`${name}'s options`, () => {
      for (const missing of [undefined, null, "options", 7, []]) {
        it(`must be an object instead of ${JSON.stringify(missing)}`, async () => {
          const error = await keyrootErrorOf(() => call(missing));
          expect(error).to.include({ name: "ArgumentError", code: "ARGUMENT_INVALID" });
          expect(error?.message).to.match(/^The options must be an object with chainId, contract and trust, but /);
        });
      }
    });
  }

  /** Options with the part of the error message that describes their valid values. */
  const OPTIONS: Record<string, RegExp> = {
    rpc: /^The rpc option must be /,
    chainId: /^The chainId option must be a whole number of 1 or more, but is /,
    contract: /^The contract option must be an address, 0x and 40 hex digits, but is /,
    merkleUrl: /^The merkleUrl option must be an http\(s\) /,
    codeHash: /^The codeHash option must be a hash, 0x and 64 lowercase hex digits, but is /,
    trust: /^The trust option must be the result of this library's oneEndpoint\(\) or another choice/,
    limits: /^The limits option must be an object, but is /,
    signal: /^The signal option must be an AbortSignal, but is /,
    fetch: /^The fetch option must be a function, but is /,
    allowHttp: /^The allowHttp option must be true or false, but is /,
    cache: /^The cache option must be /,
  };
  /** Tests for the values in WRONG_VALUES that are valid for an option. */
  const RIGHT: Record<string, (value: unknown) => boolean> = {
    chainId: (value) => typeof value === "bigint",
    allowHttp: (value) => typeof value === "boolean",
    limits: (value) => Object.prototype.toString.call(value) !== "[object Null]" && isPlainObject(value),
    fetch: (value) => typeof value === "function",
    cache: (value) => value instanceof Map,
  };

  for (const [option, message] of Object.entries(OPTIONS)) {
    it(`cause an error that names an invalid ${option}`, async () => {
      const callers = option === "cache" ? ["verifyMany"] : ["verify", "verifyMany"];
      for (const value of WRONG_VALUES.filter((value) => RIGHT[option]?.(value) !== true)) {
        for (const name of callers) {
          const state = counted();
          const error = await keyrootErrorOf(() => functions[name]?.({ ...state.options, [option]: value }));
          expect(error, `${name} ${inspect(value)}`).to.include({ code: "ARGUMENT_INVALID" });
          expect(error?.message).to.match(message);
          expect(state.requests).to.equal(0);
        }
      }
    });
  }

  it("name expectedPublicKey if there are no options", async () => {
    const verifier = createVerifier(counted().options as unknown as VerifierOptions);
    const error = await keyrootErrorOf(() => (verifier.verify as Loose)(userID));
    expect(error?.message).to.match(/^The expectedPublicKey option must be /);
  });

  it("cause an error that shows how to export a CryptoKey", async () => {
    const { publicKey } = await crypto.subtle.generateKey("X25519", true, ["deriveBits"]);
    const verifier = createVerifier(counted().options as unknown as VerifierOptions);
    const expectedPublicKey = publicKey as unknown as Uint8Array;
    const error = await keyrootErrorOf(() => verifier.verify(userID, { expectedPublicKey }));
    expect(error?.message).to.include('is a CryptoKey: pass a Uint8Array of exportKey("raw", key)');
  });

  it("may include a chainId that is a bigint below 2^53", async () => {
    const { options } = counted();
    const chainId = BigInt(place.chainId);
    expect(await functions["verify"]?.({ ...options, chainId })).to.include({ chainId: place.chainId });
    for (const chainId of [0n, -1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 2000n]) {
      for (const [name, call] of Object.entries(functions)) {
        const error = await keyrootErrorOf(() =>
          call({ ...(name === "verifyBundle" ? bundleQuery : options), chainId }),
        );
        expect(error?.message, name).to.match(/^The chainId option must be a whole number of 1 or more, but is /);
      }
    }
    const bundled = { ...bundleQuery, chainId: BigInt(bundleQuery.chainId) };
    expect(await functions["verifyBundle"]?.(bundled)).to.include({ chainId: bundleQuery.chainId });
  });

  it("require a contract address with a valid checksum", async () => {
    const watched = (options: unknown) =>
      (createVerifier as (options: unknown) => Verifier)(options).watch({} as WatchKeysOptions);
    for (const [name, call] of Object.entries({ ...functions, watch: watched })) {
      const state = counted();
      const options = name === "verifyBundle" ? bundleQuery : state.options;
      const contract = "0x5FbDB2315678afecb367f032d93F642f64180aA3";
      const error = await keyrootErrorOf(() => call({ ...options, contract }));
      expect(error?.message, name).to.match(/^The contract option must be an address with a valid checksum \(EIP-55\)/);
      expect(error?.code).to.equal("ARGUMENT_INVALID");
      expect(state.requests).to.equal(0);
    }
  });

  it("cause an error that names a wrong limit", async () => {
    for (const limit of ["fileBytes", "timeoutMs"]) {
      const error = await keyrootErrorOf(() => functions["verify"]?.({ ...place, limits: { [limit]: "1" } }));
      expect(error?.message).to.match(
        new RegExp(`^The limits\\.${limit} option must be a whole number from 1 to 2147483647, but is "1"\\.$`),
      );
    }
  });

  it("have default values if they are undefined", async () => {
    const { options } = counted();
    const names = Object.keys(OPTIONS).filter((name) => !(name in options) && name !== "cache");
    const undefinedOptions = Object.fromEntries(names.map((name) => [name, undefined]));
    const limits = { fileBytes: undefined, timeoutMs: undefined };
    expect(await functions["verify"]?.({ ...options, ...undefinedOptions, limits })).to.include({ index: 0 });
  });

  describe("contacts of verifyMany", () => {
    it("must be an array of objects", async () => {
      for (const contacts of [undefined, null, "contacts", {}, new Set(), [null], [undefined], ["text"], [[]]]) {
        const state = counted();
        const error = await keyrootErrorOf(() => (verifyListOnce as Loose)(contacts, state.options));
        expect(error).to.include({ name: "ArgumentError", code: "ARGUMENT_INVALID" });
        expect(error?.message).to.match(/^(?:The list of contacts|contacts\[0\]) must be /);
        expect(state.requests).to.equal(0);
      }
    });
  });

  describe("with a misspelled name", () => {
    const misspelt: [string, () => Promise<unknown> | undefined, string][] = [
      ["verifyMany", () => functions["verifyMany"]?.({ ...place, codehash: true }), "codeHash"],
      ["makeBundle", () => functions["makeBundle"]?.({ ...place, turst: pinned }), "trust"],
      ["verifyBundle", () => functions["verifyBundle"]?.({ ...bundleQuery, codehash: "" }), "codeHash"],
    ];
    for (const [name, call, meant] of misspelt) {
      it(`cause an error in ${name} that lists ${meant}`, async () => {
        const error = await keyrootErrorOf(call);
        expect(error).to.include({ name: "ArgumentError", code: "ARGUMENT_INVALID" });
        expect(String(error?.expected).split(", ")).to.include(meant);
      });
    }
  });

  describe("the trust of verifyBundle", () => {
    it("must be a choice that this library made", async () => {
      for (const trust of [undefined, null, "text", 7, [], pinned, { name: "pinned-block" }]) {
        const error = await keyrootErrorOf(() => (verifyBundle as Loose)(bundle, { ...bundleQuery, trust }));
        expect(error).to.include({ name: "ArgumentError", code: "ARGUMENT_INVALID" });
      }
    });
  });

  describe("with any values", () => {
    const holds = (property: (value: unknown, option: string) => Promise<unknown>) =>
      fc.assert(
        fc.asyncProperty(junk, fc.constantFrom(...Object.keys(OPTIONS), "expectedPublicKey"), async (value, option) => {
          await keyrootErrorOf(() => property(value, option));
        }),
        { numRuns: 500 },
      );

    for (const [name, call] of Object.entries(functions)) {
      const valid = () => (name === "verifyBundle" ? bundleQuery : counted().options);

      it(`cause only a KeyrootError in place of all options of ${name}`, () => holds((value) => call(value)));

      it(`cause only a KeyrootError in place of one option of ${name}`, () =>
        holds((value, option) => call({ ...valid(), [option]: value })));
    }

    it("cause only a KeyrootError in place of a user id", () =>
      holds(async (value) => {
        await keyrootErrorOf(() => (verifyOnce as Loose)(value, counted().options));
        return (makeBundle as Loose)(value, counted().options);
      }));

    it("cause only a KeyrootError in place of contacts", () =>
      holds(async (value) => {
        await keyrootErrorOf(() => (verifyListOnce as Loose)(value, counted().options));
        await keyrootErrorOf(() => (verifyListOnce as Loose)([value], counted().options));
        await keyrootErrorOf(() => (verifyListOnce as Loose)([{ userID: value }], counted().options));
        return (verifyListOnce as Loose)([{ userID, expectedPublicKey: value }], counted().options);
      }));

    it("cause only a KeyrootError in place of a bundle or a block", () =>
      holds(async (value) => {
        await keyrootErrorOf(() => (verifyBundle as Loose)(value, bundleQuery));
        await keyrootErrorOf(() => (verifyBundle as Loose)(bundle, { ...bundleQuery, trust: value }));
        return parseBundle(value);
      }));
  });
});

function isPlainObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
