/**
 * The program that the engines run: the code of examples/react-native without its screens, with React Native's own
 * fetch, URL and AbortController. It prints the outcome of each case.
 */
import "./shell";
import "./host";
import "react-native/Libraries/Core/setUpXHR";
import "react-native-get-random-values";
import { generateKeyPair } from "keyroot/records";
import { makeRecoverySheet, readRecoverySheet, signKey } from "./app/account";
import { verifyContacts, watchKeys } from "./app/keys";
import { native } from "./native";

async function outcomeOf({ key = "publicKey", attack }) {
  native.texts.clear();
  native.attack = attack;
  native.contacts = contacts.map((contact) => ({ ...contact, publicKey: contact[key] }));
  try {
    const [{ outcome }] = await verifyContacts();
    return "verified" in outcome ? outcome.verified.record.pubKey : `${outcome.error.code}, ${outcome.error.advice}`;
  } catch (error) {
    return `${error.stack ?? error}`;
  }
}

/** The first alarm of the watch, while the server returns a swapped key. */
function firstAlarm() {
  native.texts.clear();
  native.attack = undefined;
  native.contacts = contacts.map((contact) => ({ ...contact, publicKey: contact.swapped }));
  return new Promise((resolve) => {
    const end = watchKeys(([alarm]) => {
      if (alarm === undefined) return;
      end();
      resolve(alarm.code);
    });
  });
}

/** A new account, and the statement that the recovery key of its sheet signs. */
function signedBySheet() {
  const { account, text } = makeRecoverySheet();
  const { secretKey } = readRecoverySheet(text);
  return { account: account.text, statement: signKey(account, secretKey, 0, generateKeyPair().publicKey) };
}

async function main() {
  const outcomes = {
    published: await outcomeOf({}),
    swapped: await outcomeOf({ key: "swapped" }),
    redirect: await outcomeOf({ attack: "redirect" }),
    endless: await outcomeOf({ attack: "endless" }),
  };
  outcomes.aborted = native.abortedRequests;
  outcomes.watch = await firstAlarm();
  outcomes.signed = signedBySheet();
  print(JSON.stringify(outcomes));
}

void main();
