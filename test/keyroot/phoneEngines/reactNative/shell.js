/**
 * The console, the timers, a clock and `TextEncoder`, which React Native has but these shells lack. The shells run
 * timers at once, whereas these run in the order of their delays, without waiting.
 */
const ignore = () => undefined;
const soon = globalThis.setTimeout;
let timers = [];
let clock = 0;

globalThis.self = globalThis;
globalThis.global = globalThis;
globalThis.console ??= { assert: ignore, error: ignore, warn: ignore };
globalThis.performance ??= { now: () => Date.now() };
globalThis.TextEncoder ??= class {
  encode(text) {
    const binary = encodeURIComponent(text).replace(/%(..)/g, (_, digits) => String.fromCharCode(parseInt(digits, 16)));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  }
};
globalThis.setTimeout = (work, ms = 0) => {
  const timer = { work, at: clock + ms };
  timers.push(timer);
  soon(runNext, 0);
  return timer;
};
globalThis.clearTimeout = (timer) => {
  timers = timers.filter((other) => other !== timer);
};
globalThis.setImmediate = (work) => globalThis.setTimeout(work);

function runNext() {
  if (timers.length === 0) return;
  const next = timers.reduce((a, b) => (b.at < a.at ? b : a));
  globalThis.clearTimeout(next);
  clock = next.at;
  next.work();
}
