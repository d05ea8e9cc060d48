/**
 * A test of the screens of an account with the real library, on a real stack with accounts and the example's own server. It runs
 * in a copy of examples/react-native. `settings.json` has `publishUrl`, which publishes the pending keys, and the limit of a
 * wait.
 */
import { configure, fireEvent, render, screen } from "@testing-library/react-native";
import { ANY_KEY, createVerifier } from "keyroot";
import { accounts } from "keyroot/account";
import { App } from "./App";
import { readRecoverySheet } from "./account";
import { verifierOptions } from "./config";
import { publishUrl, timeoutMs } from "./settings.json";

jest.mock("@react-native-async-storage/async-storage", () =>
  jest.requireActual("@react-native-async-storage/async-storage/jest/async-storage-mock"),
);
configure({ asyncUtilTimeout: timeoutMs });

async function openTab(name) {
  await render(<App />);
  await fireEvent.press(screen.getByRole("tab", { name }));
}

async function press(name) {
  await fireEvent.press(screen.getByRole("button", { name }));
}

/** Publishes the pending key of the new account. */
async function publish() {
  const published = await (await fetch(publishUrl)).json();
  expect(published).toHaveLength(1);
}

it("makes a recovery sheet, registers the first key, and replaces it on a new phone", async () => {
  await openTab("Recovery sheet");
  await press("Make my recovery sheet");
  const sheet = screen.getByLabelText("Recovery sheet").props.children;
  await press("I have written it down");
  await screen.findByText(/^Key 0 is pending\. Your contacts will see it after /);
  await publish();
  await screen.unmount();

  await openTab("New phone");
  await fireEvent.changeText(screen.getByLabelText("Recovery sheet"), sheet);
  await press("Use this phone");
  await screen.findByText(/^Key 1 is pending\. Your contacts will see it after /);
  await publish();
  const { userID } = readRecoverySheet(sheet);
  const verifier = createVerifier({ ...verifierOptions, accounts: accounts() });
  const verified = await verifier.verify(userID, { expectedPublicKey: ANY_KEY });
  expect(verified.account).toEqual({ userID, number: 1 });
});
