import type { BodyOf } from "@keyroot/service";
import { startRegistration } from "@simplewebauthn/browser";
import { answerWithPasskey, withBrowser } from "../shared/answerWithPasskey.ts";
import { call, type Me } from "../shared/api.ts";

export function signIn(): Promise<Me> {
  return answerWithPasskey("/v1/dashboard/session/signInOptions", "/v1/dashboard/session/signIn");
}

/** Creates a passkey on this device or on a security key, and adds the passkey to the person's account. */
export async function addPasskey(): Promise<Me> {
  const options = await call("/v1/dashboard/passkeys/options", {});
  const optionsJSON = options as unknown as Parameters<typeof startRegistration>[0]["optionsJSON"];
  const { id, rawId, type, response } = await withBrowser(() => startRegistration({ optionsJSON }));
  const { clientDataJSON, attestationObject, transports = [] } = response;
  const answer = { id, rawId, type, response: { clientDataJSON, attestationObject, transports } };
  return call("/v1/dashboard/passkeys/add", { answer, name: deviceName() } as BodyOf<"/v1/dashboard/passkeys/add">);
}

/** Returns the browser and the operating system of this device, such as "Chrome on macOS". */
function deviceName(): string {
  const { userAgent } = navigator;
  const first = (names: readonly (readonly [RegExp, string])[]) => names.find(([form]) => form.test(userAgent))?.[1];
  const browser = first([
    [/Edg\//, "Edge"],
    [/Firefox\//, "Firefox"],
    [/Chrome\/|CriOS\//, "Chrome"],
    [/Safari\//, "Safari"],
  ]);
  const system = first([
    [/iPhone|iPad/, "iOS"],
    [/Android/, "Android"],
    [/Mac OS X/, "macOS"],
    [/Windows/, "Windows"],
    [/Linux|CrOS/, "Linux"],
  ]);
  return `${browser ?? "Browser"} on ${system ?? "an unknown system"}`;
}
