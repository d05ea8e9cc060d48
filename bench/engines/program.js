/**
 * The program that the engines run. `answers` contains the bodies of all responses by request, with one character per
 * byte. `task` contains the verifications. `hashes` contains the results of all `sha256` calls in one verification, in
 * hex.
 */
import "abort-controller/polyfill";
import { verifyAll } from "./verifyAll.ts";

const bytesOf = (text) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const bodies = new Map(Object.entries(answers).map(([request, text]) => [request, bytesOf(text)]));
const digests = hashes.map((hex) => Uint8Array.from(hex.match(/../g), (digits) => parseInt(digits, 16)));
let calls = 0;
/**
 * Returns recorded hashes and computes nothing, so no native code can be faster. Each verification hashes the same data
 * in the same order.
 */
const sha256 = digests.length > 0 ? () => digests[calls++ % digests.length] : undefined;

verifyAll(task, (request) => bodies.get(request), sha256).then(
  () => print("verified"),
  (error) => print(String(error.stack)),
);
