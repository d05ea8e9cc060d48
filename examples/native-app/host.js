/**
 * Adds fetch and timers, which the engine does not have. Before the app loads keyroot.js, it defines three functions:
 *
 * - `nativeRequest(request)` sends an HTTP request without following redirects, and returns a promise for the answer.
 *   The request is JSON with url, method, headers and body, and the answer is JSON with url, status, headers and body.
 *   In the answer, the names of headers are in lower case, and each character of the body stands for one byte (ISO
 *   8859-1).
 * - `nativeSleep(id, ms)` returns a promise that ends after `ms`.
 * - `nativeWake(id)` ends this promise immediately.
 */
const works = new Map();
let lastTimer = 0;

globalThis.self = globalThis;

globalThis.setTimeout = (work, ms = 0) => {
  const timer = ++lastTimer;
  works.set(timer, work);
  nativeSleep(timer, ms).then(() => {
    const work = works.get(timer);
    works.delete(timer);
    work?.();
  });
  return timer;
};

globalThis.clearTimeout = (timer) => {
  if (works.delete(timer)) nativeWake(timer);
};

globalThis.fetch = async (url, { method = "GET", headers = {}, body } = {}) => {
  const answer = JSON.parse(await nativeRequest(JSON.stringify({ url, method, headers, body })));
  const bytes = Uint8Array.from(answer.body, (character) => character.charCodeAt(0));
  const received = new Map(Object.entries(answer.headers));
  return {
    url: answer.url,
    status: answer.status,
    headers: {
      has: (name) => received.has(name.toLowerCase()),
      get: (name) => received.get(name.toLowerCase()) ?? null,
    },
    arrayBuffer: async () => bytes.buffer,
  };
};
