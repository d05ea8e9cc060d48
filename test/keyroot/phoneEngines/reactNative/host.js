/**
 * The native side of React Native on Android, over the answers in `recorded`: `calls` contains the results of RPC calls
 * by method and parameters, and `files` the answers of the file host by path, in base64.
 */
import { fromByteArray, toByteArray } from "base64-js";
import { native } from "./native";

/** The URL of the file host in the app's configuration, and that of the server. */
const FILES = "http://127.0.0.1:8546";
const SERVER = "http://127.0.0.1:8552";

const ignore = () => undefined;
const blobs = new Map();
let blobCount = 0;

const base64Of = (text) => fromByteArray(Uint8Array.from(text, (character) => character.charCodeAt(0)));
const emit = (event, value) => globalThis.__rctDeviceEventEmitter.emit(event, value);

function resultOf({ id, method, params }) {
  const result = recorded.calls[JSON.stringify([method, params])];
  const outcome = result === undefined ? { error: { code: -32601, message: "not recorded" } } : { result };
  return { jsonrpc: "2.0", id, ...outcome };
}

/** @returns status, final URL, and body in base64; no body if it never ends */
function answerTo(url, body) {
  if (url.startsWith(SERVER)) return [200, url, base64Of(JSON.stringify(native.contacts))];
  if (!url.startsWith(FILES)) {
    const request = JSON.parse(body);
    const answer = Array.isArray(request) ? request.map(resultOf) : resultOf(request);
    return [200, url, base64Of(JSON.stringify(answer))];
  }
  if (native.attack === "endless") return [200, url];
  const file = recorded.files[url.slice(FILES.length)];
  if (file === undefined) return [404, url, ""];
  return [200, native.attack === "redirect" ? url.replace("127.0.0.1", "evil.example") : url, file];
}

const modules = {
  PlatformConstants: { getConstants: () => ({}) },
  Networking: {
    sendRequest(method, url, id, headers, data, responseType) {
      if (responseType !== "blob") throw new Error(`React Native's fetch asks for ${responseType}.`);
      Promise.resolve().then(() => {
        const [status, finalUrl, body] = answerTo(url, data.string);
        emit("didReceiveNetworkResponse", [id, status, {}, finalUrl]);
        if (body === undefined) return;
        const blobId = `blob-${blobCount++}`;
        blobs.set(blobId, body);
        emit("didReceiveNetworkData", [id, { blobId, offset: 0, size: body.length }]);
        emit("didCompleteNetworkResponse", [id, "", false]);
      });
    },
    abortRequest: () => native.abortedRequests++,
    addListener: ignore,
    removeListeners: ignore,
  },
  BlobModule: {
    getConstants: () => ({ BLOB_URI_SCHEME: "content", BLOB_URI_HOST: null }),
    addNetworkingHandler: ignore,
    createFromParts: ignore,
    release: (blobId) => blobs.delete(blobId),
  },
  FileReaderModule: {
    readAsDataURL: async ({ blobId }) => `data:application/octet-stream;base64,${blobs.get(blobId)}`,
    readAsText: async ({ blobId }) => String.fromCharCode(...toByteArray(blobs.get(blobId))),
  },
  AppState: {
    getConstants: () => ({ initialAppState: "active" }),
    getCurrentAppState: (done) => done({ app_state: "active" }),
  },
  RNCAsyncStorage: {
    multiGet: (names, done) =>
      done(
        null,
        names.map((name) => [name, native.texts.get(name) ?? null]),
      ),
    multiSet(pairs, done) {
      for (const [name, text] of pairs) native.texts.set(name, text);
      done(null);
    },
  },
};
globalThis.nativeModuleProxy = {
  RNGetRandomValues: {
    getRandomBase64: (length) => fromByteArray(Uint8Array.from({ length }, () => Math.random() * 256)),
  },
};
globalThis.__turboModuleProxy = (name) => modules[name];
