/**
 * The app around examples/native-app in the test: native functions over recorded answers, and the verifications.
 * `table` contains the answers by URL and body, and `cases` the verifications: [name, options, userID,
 * expectedPublicKey].
 */
const sleeping = new Map();
const [startTimer, stopTimer] = [globalThis.setTimeout, globalThis.clearTimeout];

globalThis.nativeRequest = async (request) => {
  const { url, body } = JSON.parse(request);
  const answer = table[`${url} ${body ?? ""}`];
  if (answer === "endless") return new Promise(() => undefined);
  if (answer === undefined) throw new Error(`No answer was recorded for ${url} ${body}`);
  const headers = Object.fromEntries(answer.headers.split("\r\n").map((line) => line.split(": ")));
  const characters = answer.hex.replace(/../g, (digits) => String.fromCharCode(parseInt(digits, 16)));
  return JSON.stringify({ url: answer.url, status: answer.status, headers, body: characters });
};

globalThis.nativeSleep = (id, ms) =>
  new Promise((resolve) => {
    sleeping.set(id, { resolve, timer: startTimer(resolve, ms) });
  });

globalThis.nativeWake = (id) => {
  const { resolve, timer } = sleeping.get(id);
  stopTimer(timer);
  resolve();
};

globalThis.runCases = async () => {
  const outcomes = {};
  for (const [name, options, userID, expectedPublicKey] of cases) {
    if (["auditors", "lightClient"].includes(options.trust[0])) continue;
    const answer = await globalThis.verifyKey(JSON.stringify(options), userID, expectedPublicKey);
    const { publicKey, evidence, code } = JSON.parse(answer);
    outcomes[name] = code ?? (publicKey === expectedPublicKey ? evidence.source : publicKey);
  }
  print(JSON.stringify(outcomes));
};
