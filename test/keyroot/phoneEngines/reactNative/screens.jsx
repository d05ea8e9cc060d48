/**
 * A test of the app's screens with the real verifier, on a real stack. It runs in a copy of examples/react-native.
 * `settings.json` has the contact's name, user id and published key, and the limit of a wait. The server returns the
 * contact twice: with the published key, and as Swapped with another key.
 */
import { configure, fireEvent, render, screen } from "@testing-library/react-native";
import { makeSafetyCode } from "keyroot/safety-code";
import { App } from "./App";
import { me } from "./keys";
import contact from "./settings.json";

jest.mock("@react-native-async-storage/async-storage", () =>
  jest.requireActual("@react-native-async-storage/async-storage/jest/async-storage-mock"),
);
configure({ asyncUtilTimeout: contact.timeoutMs });

it("shows an alarm, a mark for the published key, its safety code, a warning for a swapped key, and the same mark offline", async () => {
  await render(<App />);
  await screen.findByText(/\(CONTACT_KEY_MISMATCH\)$/);
  expect(screen.getByText(new RegExp(`^User ${contact.userID}\\. `))).toBeTruthy();
  await fireEvent.press(screen.getByRole("button", { name: "I have read this" }));
  await screen.findByText(/^Swapped: Wrong key\. /);
  expect(screen.getAllByText(/✓/).map(({ props }) => props.children)).toEqual([`✓ ${contact.name}, verified`]);
  await fireEvent.press(screen.getByRole("button", { name: /✓/ }));
  const { digits } = makeSafetyCode(contact, me);
  expect(screen.getByLabelText("Safety code").props.children.replaceAll(" ", "")).toBe(digits);

  globalThis.fetch = () => Promise.reject(new TypeError("Network request failed"));
  await fireEvent.press(screen.getByRole("button", { name: "Back" }));
  await screen.findByText(new RegExp(`^✓ ${contact.name}, verified on `));
  expect(screen.getAllByText(/✓/)).toHaveLength(1);
  await screen.findByText(/^Swapped: No connection\. /);
});
