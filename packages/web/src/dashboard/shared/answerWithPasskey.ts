import type { AnswerOf } from "@keyroot/service";
import { startAuthentication } from "@simplewebauthn/browser";
import { CallError, send } from "./send.ts";

/** Asks the person to use a passkey, to sign in or to confirm a change. @throws CallError */
export async function answerWithPasskey<Path extends "/v1/dashboard/session/signIn" | "/v1/dashboard/session/verify">(
  optionsPath: "/v1/dashboard/session/signInOptions" | "/v1/dashboard/session/verifyOptions",
  path: Path,
): Promise<AnswerOf<Path>> {
  const options = await send(optionsPath, {});
  const optionsJSON = options as unknown as Parameters<typeof startAuthentication>[0]["optionsJSON"];
  const { id, rawId, type, response } = await withBrowser(() => startAuthentication({ optionsJSON }));
  const { clientDataJSON, authenticatorData, signature, userHandle = null } = response;
  return send(path, {
    answer: { id, rawId, type, response: { clientDataJSON, authenticatorData, signature, userHandle } },
  });
}

/**
 * Calls a passkey function of the browser, and converts its errors. Browsers report the same error in two cases: the
 * person cancels, or the device has no passkey.
 */
export async function withBrowser<T>(use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    const name = error instanceof Error ? error.name : "";
    const message =
      name === "InvalidStateError"
        ? "This device already has a passkey of yours."
        : name === "NotAllowedError"
          ? "No passkey was used. You canceled, it took too long, or this device has no passkey for this site."
          : "Your browser could not use a passkey here. Open this page in a current browser, under its own address.";
    throw new CallError("PASSKEY_UNUSED", message);
  }
}
