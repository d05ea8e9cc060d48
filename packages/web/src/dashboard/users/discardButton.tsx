import { useState } from "preact/hooks";
import { call } from "../shared/api.ts";
import { Confirm } from "../shared/dialogs.tsx";

interface DiscardButtonProps {
  userIDHex: string;
  keyID: string;
  reload: () => void;
}

/** A button that discards a user's pending key after a confirmation. */
export function DiscardButton({ userIDHex, keyID, reload }: DiscardButtonProps) {
  const [isAsking, setAsking] = useState(false);
  const close = () => {
    setAsking(false);
    reload();
  };
  return (
    <>
      <button
        type="button"
        class="button"
        onClick={() => {
          setAsking(true);
        }}
      >
        Discard
      </button>
      {isAsking && (
        <Confirm
          title="Discard this key?"
          action="Discard"
          isDanger
          onConfirm={async () => {
            await call("/v1/authdBizSrv/publicKeys/discard", { user_id_hex: userIDHex, key_id: keyID });
            close();
          }}
          onCancel={close}
        >
          <p>
            Key id: <code>{keyID}</code>
          </p>
          <p>
            The key is deleted and not published. The user then has no key, and the app can register another one. If
            somebody else registered this key, revoke the user’s tokens first. Otherwise, that person can register it
            again.
          </p>
          <p class="detail">You verify with your passkey.</p>
        </Confirm>
      )}
    </>
  );
}
