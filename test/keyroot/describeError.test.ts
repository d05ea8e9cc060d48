import { expect } from "chai";
import {
  type Advice,
  ArgumentError,
  describeError,
  EnvironmentError,
  ERROR_CODES,
  KeyrootError,
  TransportError,
  VerificationError,
} from "keyroot";
import { CLIENT_ERROR_CODES, ServiceError } from "@keyroot/client/internal";

/** Words that only developers know. */
const JARGON =
  /\b(?:endpoints?|rpc|json|merkle|trees?|roots?|hash(?:es)?|blocks?|chain|contracts?|proofs?|nodes?|urls?|hosts?|server|http|api|codes?(?<!safety codes?)|arguments?|parameters?|null|undefined|exception|timeout|fetch|quorum|checkpoint|evidence|invalid|base64)\b/i;

/** Each way in which a code can reach an app. */
const errors = ERROR_CODES.flatMap((code) => [
  new ArgumentError(code, ""),
  new VerificationError("root", code, ""),
  new TransportError(code, ""),
  new EnvironmentError(code, ""),
]);

describe("describeError", () => {
  it("gives a short title and one sentence without developers' words, for every code and class", () => {
    for (const error of errors) {
      const { title, text } = describeError(error);
      const name = `${error.name} ${error.code}`;
      expect(title.length, name).to.be.within(5, 30);
      expect(text, name).to.match(/^[A-Z][^.]{20,140}\.$/);
      for (const words of [title, text]) expect(words, name).to.not.match(JARGON);
      for (const words of [title, text]) expect(words, name).to.not.match(/[A-Z]{2}|_/);
    }
  });

  it("gives the same title only to errors with the same advice", () => {
    const adviceOf = new Map<string, Advice>();
    for (const error of errors) {
      const { title } = describeError(error);
      expect(adviceOf.get(title) ?? error.advice, `${error.code}: ${title}`).to.equal(error.advice);
      adviceOf.set(title, error.advice);
    }
    expect(new Set(adviceOf.values())).to.deep.equal(new Set(["warn", "developer", "retry", "none"]));
  });

  it("tells the user not to send, for every warning but that of the clock", () => {
    for (const error of errors.filter(({ advice, code }) => advice === "warn" && code !== "FUTURE_BLOCK"))
      expect(describeError(error).text, error.code).to.contain("do not send anything");
  });

  it("calls a key that is not published yet not confirmed, and raises no alarm", () => {
    const error = Object.defineProperty(new VerificationError("root", "NOT_PUBLISHED", ""), "advice", {
      value: "wait",
    });
    expect(describeError(error).title).to.equal("Not confirmed yet");
  });

  it("describes what differs for users differently", () => {
    const titleOf = (error: KeyrootError) => describeError(error).title;
    expect(titleOf(new VerificationError("key", "KEY_MISMATCH", ""))).to.equal("Wrong key");
    expect(titleOf(new TransportError("UNREACHABLE", ""))).to.equal("No connection");
    expect(titleOf(new TransportError("RPC_ERROR", ""))).to.equal("Check not possible now");
    expect(titleOf(new TransportError("STORE_UNAVAILABLE", ""))).to.equal("Storage not available");
    expect(titleOf(new VerificationError("anchor", "FUTURE_BLOCK", ""))).to.equal("Check your clock");
    expect(titleOf(new TransportError("ABORTED", ""))).to.equal("Stopped");
  });

  it("describes the errors of the clients by their advice, and an error that crossed from a worker", () => {
    for (const code of CLIENT_ERROR_CODES) {
      const error = new ServiceError(503, code, "");
      expect(describeError(error)).to.deep.equal(describeError({ advice: error.advice }));
    }
    const error = new VerificationError("key", "KEY_MISMATCH", "");
    expect(describeError(structuredClone(error.toJSON()))).to.deep.equal(describeError(error));
  });

  it("describes any other value as a fault of the app", () => {
    for (const value of [
      new TypeError("x"),
      undefined,
      null,
      "text",
      7,
      { code: "__proto__" },
      { code: "constructor", advice: 1 },
    ])
      expect(describeError(value).title).to.equal("This app has a fault");
  });
});
