import { useState } from "preact/hooks";
import { Form, TextField } from "../../shared/form.tsx";
import { Time } from "../../shared/time.tsx";
import { call } from "../shared/api.ts";
import { Failure } from "../shared/cards.tsx";
import { useAction } from "../shared/useCall.ts";
import { DiscardButton } from "./discardButton.tsx";
import type { OfferedKey } from "./history.ts";

const STATE_BADGES: Readonly<Record<OfferedKey["state"], readonly [badge: string, text: string]>> = {
  waiting: ["badge badge-open", "waits for you"],
  current: ["badge badge-good", "current"],
  rejected: ["badge badge-off", "rejected"],
  withdrawn: ["badge badge-off", "withdrawn by the user’s app"],
};

/** The keys that were offered for a user, side by side. */
export function OfferedKeys({ keys }: { keys: readonly OfferedKey[] }) {
  return (
    <ul class="offered">
      {keys.map(({ keyID, at, by, state }) => (
        <li key={keyID}>
          <span class={STATE_BADGES[state][0]}>{STATE_BADGES[state][1]}</span>
          <code>{keyID}</code>
          <span class="detail">
            {at !== undefined && <Time ms={at} />}
            {by !== undefined && `, by ${by}`}
          </span>
        </li>
      ))}
    </ul>
  );
}

interface KeyDecisionProps {
  userIDHex: string;
  keys: readonly OfferedKey[];
  reload: () => void;
}

/**
 * The form for deciding about a key that waits because of a conflicting key. The person must first enter the key id
 * that the user's app shows, and can then approve the key.
 */
export function KeyDecision({ userIDHex, keys, reload }: KeyDecisionProps) {
  const [text, setText] = useState("");
  const keyID = keys[0]?.keyID ?? "";
  const isMatch = toComparable(text) === toComparable(keyID);
  const approve = useAction(async () => {
    if (!isMatch) return;
    await call("/v1/authdBizSrv/publicKeys/approve", { user_id_hex: userIDHex, key_id: keyID });
    reload();
  });
  return (
    <Form class="decision" onSubmit={approve.run}>
      <TextField
        label="Key id that the user reads to you"
        hint="Call the user, and ask which key id the app shows."
        error={isMatch ? undefined : mismatchOf(toComparable(text), keys)}
        value={text}
        onInput={setText}
      />
      <p role="status">{isMatch && "This is the waiting key. Approving it publishes it permanently."}</p>
      <Failure error={approve.error} />
      <div class="buttons">
        <button type="submit" class="button button-primary" disabled={!isMatch || approve.busy}>
          Approve
        </button>
        <DiscardButton userIDHex={userIDHex} keyID={keyID} reload={reload} />
      </div>
    </Form>
  );
}

/**
 * Returns why an entered key id does not match the waiting key. Returns undefined if it matches. It also does so for
 * the beginning of an offered key id, because the person may still be typing.
 */
function mismatchOf(read: string, [own, ...others]: readonly OfferedKey[]): string | undefined {
  if (others.some(({ keyID }) => toComparable(keyID) === read))
    return "This is the other key. Revoke the token that registered the waiting key, and discard the waiting key. The user’s app can then register its own.";
  const isBeginning = [own, ...others].some((key) => key !== undefined && toComparable(key.keyID).startsWith(read));
  return isBeginning ? undefined : "This is none of these keys.";
}

/** Removes the parts of a key id that people leave out when they read or copy it: spaces, and the padding of base64. */
function toComparable(keyID: string): string {
  return keyID.replaceAll(/[\s=]/g, "");
}
