/**
 * The program that the engines run: the library from its package, with React Native's fetch over recorded answers.
 * `table` contains the answers by URL and body, and `cases` the verifications: [name, options, userID,
 * expectedPublicKey].
 */
import "abort-controller/polyfill";
import "whatwg-fetch";
import { createVerifier } from "keyroot";
import { trustOf } from "./trustOf.js";
import { generateKeyPair } from "keyroot/internal/identity";

/** The part of React Native's XMLHttpRequest that whatwg-fetch uses. */
globalThis.XMLHttpRequest = class {
  responseType = "";
  statusText = "";

  open(method, url) {
    this.url = url;
  }

  setRequestHeader() {
    // Answers do not depend on headers.
  }

  getAllResponseHeaders() {
    return this.headers;
  }

  send(body) {
    const answer = table[`${this.url} ${body ?? ""}`];
    // An endless answer never arrives: React Native reads the whole body first.
    if (answer === "endless") return;
    if (answer === undefined) throw new Error(`No answer was recorded for ${this.url} ${body}`);
    this.status = answer.status;
    this.headers = answer.headers;
    this.responseURL = answer.url;
    this.response = Uint8Array.from(answer.hex.match(/../g) ?? [], (digits) => parseInt(digits, 16)).buffer;
    this.readyState = 4;
    Promise.resolve().then(() => this.onload());
  }

  abort() {
    this.onabort();
  }
};

async function outcomeOf(work) {
  try {
    return await work();
  } catch (error) {
    return error.code ?? `${error.stack ?? error}`;
  }
}

async function main() {
  const outcomes = {};
  // The cases of the beacon chain share a verifier, which verifies the chain's signatures once.
  let beaconVerifier;
  const create = ({ trust, ...options }) => createVerifier({ ...options, trust: trustOf(trust) });
  const verifierOf = (options) =>
    options.trust[0] === "lightClient" ? (beaconVerifier ??= create(options)) : create(options);
  for (const [name, options, userID, expectedPublicKey] of cases) {
    outcomes[name] = await outcomeOf(async () => {
      const { evidence } = await verifierOf(options).verify(userID, { expectedPublicKey });
      return evidence.source;
    });
  }
  outcomes.generateKeyPair = await outcomeOf(() => generateKeyPair());
  print(JSON.stringify(outcomes));
}

main();
