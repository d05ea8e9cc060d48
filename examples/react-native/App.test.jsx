import AsyncStorage from "@react-native-async-storage/async-storage";
import { act, fireEvent, render, screen, waitFor, within } from "@testing-library/react-native";
import { UserClient } from "@keyroot/client/user";
import { createVerifier, describeError, TransportError } from "keyroot";
import { verifyKeyStatement } from "keyroot/account";
import { makeKeyRecord, randomUserID } from "keyroot/records";
import { generateKeyPair } from "keyroot/internal/identity";
import { makeSafetyCode } from "keyroot/safety-code";
import { App } from "./App";
import { me } from "./keys";

// The test replaces only the phone's store, user and key type, the verifier, the server and the client of the service.
jest.mock("@react-native-async-storage/async-storage", () =>
  jest.requireActual("@react-native-async-storage/async-storage/jest/async-storage-mock"),
);
jest.mock("./config", () => {
  const { curve41417 } = jest.requireActual("keyroot/key-types");
  return { ...jest.requireActual("./config"), keyType: curve41417 };
});
jest.mock("./me.json", () => {
  const { generateKeyPair } = jest.requireActual("keyroot/internal/identity");
  const { makeKeyRecord, randomUserID } = jest.requireActual("keyroot/records");
  return makeKeyRecord(randomUserID(), generateKeyPair().publicKey);
});
jest.mock("keyroot", () => {
  const verifier = { verify: jest.fn(), verifyMany: jest.fn(), watch: jest.fn() };
  return { ...jest.requireActual("keyroot"), createVerifier: () => verifier };
});
jest.mock("@keyroot/client/user", () => {
  const user = { storeAccount: jest.fn(), account: jest.fn(), submitStatement: jest.fn() };
  return { UserClient: jest.fn(() => user) };
});

// The testing library advances this time while it waits, so no test depends on the machine's speed.
jest.useFakeTimers();

const verifier = createVerifier();
const user = new UserClient();
const ada = newUser("Ada");
const bob = newUser("Bob");

/** Makes a user with a published key. */
function newUser(name) {
  const { publicKey } = generateKeyPair();
  return { name, publicKey, record: makeKeyRecord(randomUserID(), publicKey) };
}

/** Returns a contact's outcome. It is `verified` if the server's key is the published key. */
function compareKey({ userID, expectedPublicKey }) {
  const { record, publicKey } = [ada, bob].find((user) => user.record.userID === userID);
  if (expectedPublicKey === record.pubKey) return { userID, verified: { record, publicKey } };
  return { userID, error: { code: "KEY_MISMATCH", advice: "warn" } };
}

/** Makes the server return this key for Ada, and the published key for Bob. */
function serve(adaKey) {
  const contacts = [
    { name: "Ada", userID: ada.record.userID, publicKey: adaKey },
    { name: "Bob", userID: bob.record.userID, publicKey: bob.record.pubKey },
  ];
  globalThis.fetch = async () => ({ ok: true, json: async () => contacts });
}

function titlesOfButtons() {
  return screen.getAllByRole("button").map((button) => within(button).getByText(/./).props.children);
}

async function press(title) {
  await fireEvent.press(await screen.findByRole("button", { name: title }));
}

async function openTab(name) {
  await render(<App />);
  await fireEvent.press(screen.getByRole("tab", { name }));
}

/** Raises an alarm, as the verifier's watch does. */
async function raise(alarm) {
  await waitFor(() => expect(verifier.watch).toHaveBeenCalled());
  await act(() => verifier.watch.mock.lastCall[0].onAlarm(alarm));
}

beforeEach(async () => {
  await AsyncStorage.clear();
  serve(ada.record.pubKey);
  verifier.verifyMany.mockReset().mockImplementation(async (contacts) => contacts.map(compareKey));
  verifier.watch.mockReset().mockResolvedValue({ pause: jest.fn(), resume: jest.fn() });
});

describe("contact list", () => {
  it("shows no mark before the end of the verification", async () => {
    let end;
    verifier.verifyMany.mockImplementation(
      (contacts) => new Promise((resolve) => (end = () => resolve(contacts.map(compareKey)))),
    );
    await render(<App />);
    await screen.findByText("Checking the keys …");
    await waitFor(() => expect(end).toBeDefined());
    expect(titlesOfButtons()).toEqual(["Check again"]);
    await act(end);
    expect(titlesOfButtons()).toEqual(["✓ Ada, verified", "✓ Bob, verified", "Check again"]);
  });

  it("shows a warning and no mark if the server returns another key than the published key", async () => {
    serve(bob.record.pubKey);
    await render(<App />);
    await screen.findByText(/^Ada: Wrong key\. /);
    expect(titlesOfButtons()).toEqual(["✓ Bob, verified", "Check again"]);
  });

  it("removes a mark if a later verification fails", async () => {
    await render(<App />);
    await screen.findByText("✓ Ada, verified");
    serve(bob.record.pubKey);
    await press("Check again");
    await screen.findByText(/^Ada: Wrong key/);
    expect(titlesOfButtons()).toEqual(["✓ Bob, verified", "Check again"]);
  });

  it("shows an error and no mark if no contacts can be loaded", async () => {
    globalThis.fetch = async () => ({ ok: false, status: 503 });
    await render(<App />);
    await screen.findByText("The contacts could not be loaded. The server answered with the status 503.");
    expect(titlesOfButtons()).toEqual(["Check again"]);
  });

  it("shows the stored contacts with the time of their verification while the phone is offline", async () => {
    await render(<App />);
    await screen.findByText("✓ Ada, verified");
    globalThis.fetch = async () => Promise.reject(new TypeError("Network request failed"));
    const cached = { checkedAt: 1e12, ageMs: 1, offline: new TransportError("UNREACHABLE", "") };
    verifier.verifyMany.mockImplementation(async (contacts) =>
      contacts.map((contact) => ({ verified: { ...compareKey(contact).verified, cached } })),
    );
    await press("Check again");
    const time = new Date(1e12).toLocaleString();
    await screen.findByText(`✓ Ada, verified on ${time}`);
    expect(titlesOfButtons()).toEqual([
      ...["Ada", "Bob"].map((name) => `✓ ${name}, verified on ${time}`),
      "Check again",
    ]);
  });

  it("shows the number of checked contacts", async () => {
    let end;
    verifier.verifyMany.mockImplementation(async (contacts, { onOutcome }) => {
      onOutcome(compareKey(contacts[0]), 0);
      await new Promise((resolve) => (end = resolve));
      return contacts.map(compareKey);
    });
    await render(<App />);
    await screen.findByText("Checking the keys: 1 of 2 …");
    await act(end);
    await screen.findByText("✓ Bob, verified");
  });

  it.each([
    ["warn", "KEY_MISMATCH", "alert"],
    ["wait", "NOT_PUBLISHED", "note"],
    ["developer", "NO_CONTRACT", "note"],
    ["retry", "TIMEOUT", "note"],
  ])("shows its own text for the advice %s, and does not offer the key", async (advice, code, role) => {
    const error = { code, advice };
    verifier.verifyMany.mockImplementation(async (contacts) => contacts.map(() => ({ error })));
    await render(<App />);
    const { title, text } = describeError(error);
    const shown = await screen.findByText(`Ada: ${title}. ${text}`);
    expect(shown.props.role).toBe(role);
    expect(titlesOfButtons()).toEqual(["Check again"]);
  });
});

describe("safety code", () => {
  it.each([ada, bob])("shows the same digits as the app of the contact: $name", async ({ name, record, publicKey }) => {
    await render(<App />);
    await press(`✓ ${name}, verified`);
    await screen.findByText(`Read these digits to ${name}. If one differs, someone has exchanged a key.`);
    const { digits } = makeSafetyCode({ userID: record.userID, publicKey }, me);
    expect(screen.getByLabelText("Safety code").props.children.replaceAll(" ", "")).toBe(digits);
  });

  it("returns to the contact list", async () => {
    await render(<App />);
    await press("✓ Ada, verified");
    await press("Back");
    await screen.findByText("✓ Ada, verified");
  });
});

describe("alarms", () => {
  const { userID } = ada.record;
  const alarm = { code: "CONTACT_KEY_MISMATCH", userID, message: "Another key." };

  it.each([
    ["WATCHED_KEY_MISMATCH", "Someone has published another key in your name. Warn your contacts. You need a new id."],
    ["CONTACT_KEY_MISMATCH", "The server returns another key for a contact than the published one. Do not send."],
    ["WATCHED_ROOT_CHANGED", "An endpoint returns false answers. Do not send until this app uses other endpoints."],
    ["FILE_UNAVAILABLE", "A file with published keys is missing. Inform the operator."],
  ])("show the user's next step and the affected user for %s", async (code, text) => {
    await render(<App />);
    await raise({ ...alarm, code });
    await screen.findByText(text);
    screen.getByText(`User ${userID}. Another key. (${code})`);
  });

  it("include an error that the watch throws", async () => {
    verifier.watch.mockRejectedValueOnce(Object.assign(new Error("No endpoint."), { code: "UNREACHABLE" }));
    await render(<App />);
    await screen.findByText(`User ${me.userID}. No endpoint. (UNREACHABLE)`);
  });

  it.each([["contact list"], ["safety code"]])("replace the %s", async (replaced) => {
    await render(<App />);
    await screen.findByText("✓ Ada, verified");
    if (replaced === "safety code") await press("✓ Ada, verified");
    await raise(alarm);
    expect(titlesOfButtons()).toEqual(["I have read this"]);
    expect(screen.queryByLabelText("Safety code")).toBeNull();
    expect(screen.queryAllByRole("tab")).toEqual([]);
  });

  it("remain after a restart until the user dismisses them", async () => {
    await render(<App />);
    await raise(alarm);
    await screen.unmount();
    await render(<App />);
    await screen.findByText(/CONTACT_KEY_MISMATCH/);
    await press("I have read this");
    await screen.findByText("✓ Ada, verified");
    await screen.unmount();
    await render(<App />);
    await screen.findByText("✓ Ada, verified");
    expect(screen.queryByText(/CONTACT_KEY_MISMATCH/)).toBeNull();
  });
});

describe("screens of an account", () => {
  const endOfHold = 1e12;
  const waiting = `pending. Your contacts will see it after ${new Date(endOfHold).toLocaleString()}.`;
  let account;
  let statements;

  beforeEach(() => {
    account = undefined;
    statements = [];
    verifier.verify.mockReset().mockResolvedValue({ account: { number: 0 } });
    user.storeAccount.mockReset().mockImplementation(async (text) => (account = text));
    user.account.mockReset().mockImplementation(async () => ({ account }));
    user.submitStatement.mockReset().mockImplementation(async (signed) => {
      statements.push(verifyKeyStatement({ text: account }, signed));
      return { state: "pending", hold_ends_at: endOfHold };
    });
  });

  /** Makes an account on the old phone. @returns the text of its sheet */
  async function makeSheet() {
    await openTab("Recovery sheet");
    await press("Make my recovery sheet");
    const sheet = screen.getByLabelText("Recovery sheet").props.children;
    await press("I have written it down");
    await screen.findByText(`Key 0 is ${waiting}`);
    await screen.unmount();
    return sheet;
  }

  async function useSheet(text) {
    await openTab("New phone");
    await fireEvent.changeText(screen.getByLabelText("Recovery sheet"), text);
    await press("Use this phone");
  }

  it("show a sheet in groups of four, and register the first key when it is written down", async () => {
    const sheet = await makeSheet();
    expect(sheet).toMatch(/^(?:[a-z0-9]{4} ){23}[a-z0-9]{4}$/);
    expect(statements).toEqual([expect.objectContaining({ number: 0 })]);
    expect(sheet.replaceAll(" ", "").slice(0, 32)).toBe(statements[0].account);
  });

  it("do not store the recovery key on the phone", async () => {
    const sheet = await makeSheet();
    const stored = await AsyncStorage.multiGet(await AsyncStorage.getAllKeys());
    expect(stored).not.toEqual([]);
    const key = sheet.slice(40);
    for (const form of [key, key.replaceAll(" ", "")]) expect(stored.flat().join()).not.toContain(form);
  });

  it("replace the key with the sheet, typed in capitals and on several lines", async () => {
    const sheet = await makeSheet();
    await useSheet(`${sheet.toUpperCase().replace(/(.{40})/g, "$1\n")}\n`);
    await screen.findByText(`Key 1 is ${waiting}`);
    expect(screen.getByLabelText("Recovery sheet").props.value).toBe("");
    const [first, second] = statements;
    expect(second).toEqual({ ...first, number: 1, publicKey: expect.not.stringMatching(first.publicKey) });
  });

  it.each([
    ["with a missing group", (sheet) => sheet.slice(5), /^This is no recovery sheet\. Type all 24 groups/],
    ["with a wrong character of the key", wrongLast, /The signature of recovery key 1 is false/],
    ["of another account", (sheet) => `${randomUserID()}${sheet.slice(39)}`, /^The service returned another account/],
  ])("submit nothing for a sheet %s", async (_, change, message) => {
    await useSheet(change(await makeSheet()));
    await screen.findByText(message);
    expect(statements).toHaveLength(1);
  });

  it("submit nothing while the chain does not have the key before the new one", async () => {
    const sheet = await makeSheet();
    verifier.verify.mockRejectedValue(new Error("No key is published."));
    await useSheet(sheet);
    await screen.findByText("No key is published.");
    expect(statements).toHaveLength(1);
  });

  function wrongLast(sheet) {
    return `${sheet.slice(0, -1)}${sheet.endsWith("0") ? "1" : "0"}`;
  }
});
