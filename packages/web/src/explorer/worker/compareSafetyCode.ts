import { VerificationError } from "keyroot/internal/errors";
import { loadKeyType } from "keyroot/internal/keyTypes";
import { makeSafetyCode, verifySafetyPayload } from "keyroot/safety-code";
import { type Handler, toFailure } from "./serveCalls.ts";

/** Makes two users' safety code, and compares it with the digits or the QR code in the contact's app. */
export const safetyCode: Handler<"safetyCode"> = async ({ mine, contact, shown, keyType: typeName = "curve41417" }) => {
  const keyType = await loadKeyType(typeName);
  try {
    const { digits, payload } = makeSafetyCode(mine, contact, keyType);
    try {
      compare(shown.replace(/\s+/g, ""));
      return { digits, payload };
    } catch (error) {
      return { digits, payload, failure: toFailure(error) };
    }
    function compare(entered: string): void {
      if (entered === "" || entered === digits) return;
      if (!/^\d{60}$/.test(entered)) verifySafetyPayload(entered, mine, contact, keyType);
      else throw new VerificationError("key", "SAFETY_CODE_MISMATCH", "The digits differ.");
    }
  } catch (error) {
    return { failure: toFailure(error) };
  }
};
