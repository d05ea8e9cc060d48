/** The worker for contact lists. The page loads it only for a list. */
import { ANY_KEY, type ContactOutcome, createVerifier } from "keyroot";
import { accounts } from "keyroot/account";
import { loadKeyType } from "keyroot/internal/keyTypes";
import { type ListedContact, parseContactList } from "./contactList.ts";
import type { ContactResult } from "./messages.ts";
import { type Handler, serveCalls, toFailure } from "./serveCalls.ts";
import { signedTrust } from "./signedTrust.ts";

type ReadableContact = Extract<ListedContact, { keyID: unknown }>;

/** Verifies all contacts of a list with shared requests. Reports each verdict as soon as it is known. */
const verifyList: Handler<"verifyList"> = async ({ bytes, options }, report, signal) => {
  const { rpc, chainId, contract, codeHash, merkleUrl, allowHttp, accounts: hasAccounts = false } = options;
  const keyType = await loadKeyType(options.keyType ?? "curve41417");
  let contacts: ListedContact[];
  try {
    contacts = parseContactList(bytes, { contract, keyBytes: keyType.length });
  } catch (error) {
    if (error instanceof RangeError) return { problem: error.message };
    throw error;
  }
  const results = contacts.map((contact): ContactResult =>
    "problem" in contact ? { ...contact, verdict: "unreadable" } : { userID: contact.userID, verdict: "waiting" },
  );
  report({ kind: "contacts", results });
  const readable = contacts.flatMap((contact, index) => ("problem" in contact ? [] : [{ contact, index }]));
  const verifier = createVerifier({
    ...{ rpc, chainId, contract, codeHash, merkleUrl, allowHttp, keyType },
    trust: signedTrust(options.trust),
    ...(hasAccounts && { accounts: accounts() }),
  });
  const outcomes = await verifier.verifyMany(
    readable.map(({ contact: { userID, publicKey, account } }) => ({
      userID,
      expectedPublicKey: publicKey ?? ANY_KEY,
      ...(hasAccounts && { account }),
    })),
    {
      signal,
      onOutcome: (outcome, i) => {
        const found = readable[i];
        if (found) report({ kind: "contact", index: found.index, result: toResult(found.contact, outcome) });
      },
    },
  );
  for (const [i, outcome] of outcomes.entries()) {
    const found = readable[i];
    if (found) results[found.index] = toResult(found.contact, outcome);
  }
  return { results };
};

function toResult({ publicKey, keyID }: ReadableContact, outcome: ContactOutcome): ContactResult {
  const { userID } = outcome;
  if ("error" in outcome) {
    const failure = toFailure(outcome.error);
    return { userID, verdict: verdictOf(failure), evidence: failure.evidence, failure };
  }
  const { record, evidence, account } = outcome.verified;
  const found = { userID, keyID: record.keyID, number: account?.number, evidence };
  if (keyID !== undefined && keyID !== record.keyID) return { ...found, verdict: "different" };
  return { ...found, verdict: publicKey === undefined && keyID === undefined ? "published" : "same" };
}

function verdictOf({ name, code, advice }: ReturnType<typeof toFailure>) {
  if (code === "KEY_MISMATCH") return "different";
  if (code === "NOT_PUBLISHED") return "absent";
  return name === "VerificationError" && advice !== "developer" ? "rejected" : "open";
}

serveCalls({ verifyList });
