import AsyncStorage from "@react-native-async-storage/async-storage";
import { createVerifier } from "keyroot";
import { makeBundle } from "keyroot/bundle";
import { keyValueStore } from "keyroot/store/key-value";
import { AppState } from "react-native";
import { serverUrl, verifierOptions } from "./config";
import record from "./me.json";

/** The user of this phone. In your app, the key comes from the phone's own storage, never from a server. */
export const me = { userID: record.userID, publicKey: record.pubKey };

const ALARMS = "alarms";
const MAX_ALARMS = 100;

const CONTACTS = "contacts";

const store = keyValueStore(AsyncStorage);
// Verified keys stay verified while the phone is offline.
const verifier = createVerifier({ ...verifierOptions, cache: store });

/**
 * Replace this function with a call to your server that returns the `name`, `userID` and current `publicKey` of each
 * contact.
 */
async function fetchContacts(options) {
  const response = await fetch(`${serverUrl}/contacts`, options);
  if (!response.ok) throw new Error(`The server answered with the status ${response.status}.`);
  const contacts = await response.json();
  return contacts.filter(({ userID }) => userID !== me.userID);
}

function toQuery({ userID, publicKey }) {
  return { userID, expectedPublicKey: publicKey };
}

/** Returns the server's contacts, or the last ones that the phone has of them. The keys are verified in both cases. */
async function loadContacts() {
  const waiting = new AbortController();
  const timer = setTimeout(() => waiting.abort(), verifierOptions.limits.timeoutMs);
  try {
    const contacts = await fetchContacts({ signal: waiting.signal });
    await AsyncStorage.setItem(CONTACTS, JSON.stringify(contacts));
    return contacts;
  } catch (error) {
    const stored = await AsyncStorage.getItem(CONTACTS);
    if (stored === null) throw error;
    return JSON.parse(stored);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Loads the contacts and verifies their keys.
 * @param showProgress called after each contact, with the numbers of checked and of all contacts
 * @returns the name and the outcome of each contact. Use only the key in an outcome's `verified`; the others have
 *   `error`.
 */
export async function verifyContacts(showProgress = () => undefined) {
  const contacts = await loadContacts();
  let checked = 0;
  const onOutcome = () => showProgress(++checked, contacts.length);
  const outcomes = await verifier.verifyMany(contacts.map(toQuery), { onOutcome });
  return contacts.map(({ name }, i) => ({ name, outcome: outcomes[i] }));
}

/** The alarms that the user has not dismissed: `code`, `userID`, `message`. */
async function loadAlarms() {
  return JSON.parse((await AsyncStorage.getItem(ALARMS)) ?? "[]");
}

export async function dismissAlarms() {
  await AsyncStorage.removeItem(ALARMS);
}

/**
 * Checks the user's own key and the contacts' keys while the app is active.
 * @param showAlarms called with all alarms, at the start and after each new one
 * @returns a function that ends the watch
 */
export function watchKeys(showAlarms) {
  const ended = new AbortController();
  const start = async () => {
    showAlarms(await loadAlarms());
    const watch = await verifier.watch({
      ...me,
      contacts: async (options) => (await fetchContacts(options)).map(toQuery),
      store,
      makeBundle,
      // Store the alarm before showing the alarm, because each alarm is raised only once.
      onAlarm: async ({ code, userID, message }) => {
        const alarms = [...(await loadAlarms()), { code, userID, message }].slice(-MAX_ALARMS);
        await AsyncStorage.setItem(ALARMS, JSON.stringify(alarms));
        showAlarms(alarms);
      },
      signal: ended.signal,
    });
    const subscription = AppState.addEventListener("change", (state) => {
      if (state === "active") watch.resume();
      else watch.pause();
    });
    ended.signal.addEventListener("abort", () => subscription.remove());
  };
  start().catch(({ code = "WATCH_FAILED", message }) => {
    if (!ended.signal.aborted) showAlarms([{ code, userID: me.userID, message }]);
  });
  return () => ended.abort();
}
