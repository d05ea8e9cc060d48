import { createVerifier } from "keyroot";
import { accounts } from "keyroot/account";
import { loadKeyType } from "keyroot/internal/keyTypes";
import { lightClient } from "keyroot/light-client";
import { type Handler, toFailure } from "./serveCalls.ts";
import { simpleTrust } from "./trust.ts";

/**
 * Verifies a key with an attacker's servers, as a contact's app does. Each time, the light client starts at its
 * checkpoint.
 */
export const runAttack: Handler<"runAttack"> = async ({ userID, options }, _, signal) => {
  const { trust: choice, keyType: typeName = "curve41417", expectedPublicKey = "", ...others } = options;
  const { accounts: hasAccounts = false, ...place } = others;
  const keyType = await loadKeyType(typeName);
  try {
    const trust = choice.name === "light-client" ? lightClient(choice.settings) : simpleTrust(choice);
    const verifier = createVerifier({ ...place, keyType, trust, ...(hasAccounts && { accounts: accounts() }) });
    await verifier.verify(userID, { expectedPublicKey, signal });
    return { failure: undefined };
  } catch (error) {
    return { failure: toFailure(error) };
  }
};
