/**
 * The program that the engines run. `answers` maps each request to the body of its response, with one character per
 * byte, and `task` contains the verifications.
 */
import "abort-controller/polyfill";
import { verifyAll } from "./verifyAll.ts";

const bytesOf = (text) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const bodies = new Map(Object.entries(answers).map(([request, text]) => [request, bytesOf(text)]));
verifyAll(task, (request) => bodies.get(request)).then(
  () => print("verified"),
  (error) => print(String(error.stack)),
);
