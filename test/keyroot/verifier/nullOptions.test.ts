import { expect } from "chai";
import {
  ANY_KEY,
  createVerifier,
  endpoints,
  oneEndpoint,
  ownNode,
  pinnedBlock,
  type Verifier,
  type VerifierOptions,
} from "keyroot";
import { auditors, verifyStatement } from "keyroot/auditors";
import { makeBundle, verifyBundle } from "keyroot/bundle";
import { lightClient, verifyBlockProof } from "keyroot/light-client";
import { testAuditors } from "../../support/auditors/testAuditor.ts";
import { sampleRecords } from "../../support/samples.ts";
import { failure, never } from "../../support/support.ts";

const HASH = `0x${"12".repeat(32)}`;
const [auditor] = testAuditors("a");
const { userID } = sampleRecords(1)[0] ?? never();
/** No request may be made with an option that is null. */
const fetch = () => Promise.reject(new TypeError("The options were accepted."));
const VERIFIER = {
  ...{ rpc: "https://rpc.example", chainId: 31337, contract: `0x${"12".repeat(20)}` },
  ...{ merkleUrl: "https://files.example", trust: oneEndpoint(), fetch },
};
const BUNDLE = {
  userID,
  chainId: 1,
  contract: VERIFIER.contract,
  expectedPublicKey: ANY_KEY,
  trust: pinnedBlock(HASH),
};
const PLACE = { chainId: 1, contract: VERIFIER.contract };
const KEYS = { keys: [auditor.key], threshold: 1 };

type Loose = (options: object) => unknown;
const verifier = (): Verifier => createVerifier(VERIFIER);

/** Functions with options that decide what is trusted, a valid value of the options, and the options' names. */
const FUNCTIONS: Readonly<Record<string, [call: Loose, valid: object, names: string]>> = {
  createVerifier: [
    (options) => createVerifier(options as VerifierOptions),
    VERIFIER,
    "rpc chainId contract merkleUrl trust codeHash keyType publicationMs accounts limits allowHttp fetch",
  ],
  verify: [
    (options) => verifier().verify(userID, options as never),
    { expectedPublicKey: ANY_KEY },
    // Any value of `knownSince` that is no time leaves the advice as strict as without it.
    "expectedPublicKey account signal",
  ],
  verifyMany: [
    (options) => verifier().verifyMany([{ userID, expectedPublicKey: ANY_KEY }], options),
    {},
    "cache recheckMs signal",
  ],
  oneEndpoint: [oneEndpoint, {}, "block maxAgeMs"],
  endpoints: [endpoints as Loose, { required: 2 }, "required block maxAgeMs"],
  ownNode: [ownNode, {}, "block maxAgeMs"],
  lightClient: [
    // The network is checked when the chain is known.
    (options) => createVerifier({ ...VERIFIER, trust: lightClient(options as Parameters<typeof lightClient>[0]) }),
    { urls: ["https://beacon.example"], checkpoint: HASH },
    "urls checkpoint network maxCheckpointAgeMs maxAgeMs store",
  ],
  auditors: [auditors as Loose, { ...KEYS, urls: ["https://a.example"] }, "keys threshold urls maxAgeMs"],
  verifyStatement: [
    (options) => verifyStatement(new Uint8Array(), PLACE, options as never),
    KEYS,
    "keys threshold maxAgeMs",
  ],
  makeBundle: [
    (options) => makeBundle(userID, options as never),
    VERIFIER,
    "rpc chainId contract merkleUrl trust codeHash keyType accounts limits allowHttp fetch account signal",
  ],
  verifyBundle: [
    (options) => verifyBundle("{}", options as never),
    BUNDLE,
    "userID chainId contract codeHash keyType accounts expectedPublicKey trust",
  ],
  verifyBlockProof: [
    (options) => verifyBlockProof("{}", options as never),
    { chainId: 1, checkpoint: HASH },
    "chainId checkpoint network maxCheckpointAgeMs",
  ],
};

describe("null in place of an option", () => {
  for (const [name, [call, valid, names]] of Object.entries(FUNCTIONS))
    it(`is refused by ${name}, so that it never selects a default`, async () => {
      for (const option of names.split(" ")) {
        const error = await failure(Promise.resolve().then(() => call({ ...valid, [option]: null })));
        expect(error, option).to.have.property("name", "ArgumentError");
      }
    });

  it("is refused in place of all options", async () => {
    for (const [name, [call]] of Object.entries(FUNCTIONS)) {
      const error = await failure(Promise.resolve().then(() => call(null as never)));
      expect(error, name).to.have.property("name", "ArgumentError");
    }
  });
});
