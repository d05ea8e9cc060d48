import { expect } from "chai";
import { ANY_KEY, createVerifier, oneEndpoint, type Store } from "keyroot";
import { randomUserID } from "keyroot/records";
import { generateKeyPair } from "keyroot/internal/identity";
import { indexedDbStore } from "keyroot/store/indexeddb";
import { failure } from "../../support/support.ts";
import { withoutGlobals } from "../../support/withoutGlobals.ts";

const userID = "y".repeat(32);
const verifier = createVerifier({
  ...{ rpc: "https://rpc.example", merkleUrl: "https://files.example" },
  ...{ chainId: 1, contract: `0x${"00".repeat(20)}`, trust: oneEndpoint() },
});

describe("platform without a required feature", () => {
  /** Each feature's remedy, as a part of the error message, and a call that needs the feature. */
  const uses: Record<string, [remedy: string, use: () => unknown]> = {
    fetch: ["whatwg-fetch", () => verifier.verify(userID, { expectedPublicKey: ANY_KEY })],
    AbortController: ["abort-controller", () => verifier.verify(userID, { expectedPublicKey: ANY_KEY })],
    setTimeout: ["the engine's host", () => verifier.verify(userID, { expectedPublicKey: ANY_KEY })],
    indexedDB: ["another store", () => indexedDbStore().get("name")],
    crypto: ["react-native-get-random-values", () => generateKeyPair()],
  };
  for (const [name, [remedy, use]] of Object.entries(uses)) {
    it(`causes an error that names a replacement for ${name}`, async () => {
      await withoutGlobals({ [name]: undefined }, async () => {
        const error = await failure(Promise.resolve().then(use));
        expect(error).to.include({ name: "EnvironmentError", code: "ENVIRONMENT_UNSUPPORTED" });
        expect(error).to.have.property("expected").that.includes(name);
        expect(error).to.have.property("message").that.includes(name).and.includes(remedy);
      });
    });
  }

  it("causes an error for a random user id without a secure random source", async () => {
    await withoutGlobals({ crypto: {} }, async () => {
      const error = await failure((async () => Promise.resolve(randomUserID()))());
      expect(error).to.include({ code: "ENVIRONMENT_UNSUPPORTED", expected: "crypto.getRandomValues" });
    });
  });

  const watchWith = (store: Store) =>
    verifier.watch({
      ...{ userID, publicKey: new Uint8Array(105), store },
      ...{ makeBundle: () => Promise.reject(new Error("unused")), onAlarm: () => undefined },
    });

  it("causes an error for a watch without Web Locks", async () => {
    await withoutGlobals({ document: {}, navigator: {} }, async () => {
      const error = await failure(watchWith(new Map<string, string>()));
      expect(error).to.include({ code: "ENVIRONMENT_UNSUPPORTED", expected: "navigator.locks" });
    });
  });

  it("causes an error for a watch whose store needs IndexedDB", async () => {
    await withoutGlobals({ indexedDB: undefined }, async () => {
      const error = await failure(watchWith(indexedDbStore()));
      expect(error).to.include({ code: "ENVIRONMENT_UNSUPPORTED", expected: "indexedDB" });
      expect(error).to.have.property("message").that.includes("use another store");
    });
  });
});
