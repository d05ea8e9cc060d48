/** The worker for safety codes. */
import { VerificationError } from "keyroot/internal/errors";
import { makeSafetyCode, verifySafetyPayload } from "keyroot/safety-code";
import { type Handler, serveCalls, toFailure } from "./serveCalls.ts";

/** Makes two users' safety code. Compares the safety code with the digits or the QR code in the contact's app. */
const safetyCode: Handler<"safetyCode"> = ({ mine, contact, shown }) => {
  try {
    const { digits } = makeSafetyCode(mine, contact);
    try {
      compare(shown.replace(/\s+/g, ""));
      return Promise.resolve({ digits });
    } catch (error) {
      return Promise.resolve({ digits, failure: toFailure(error) });
    }
    function compare(entered: string): void {
      if (entered === "" || entered === digits) return;
      if (!/^\d{60}$/.test(entered)) verifySafetyPayload(entered, mine, contact);
      else throw new VerificationError("key", "SAFETY_CODE_MISMATCH", "The digits differ.");
    }
  } catch (error) {
    return Promise.resolve({ failure: toFailure(error) });
  }
};

serveCalls({ safetyCode });
