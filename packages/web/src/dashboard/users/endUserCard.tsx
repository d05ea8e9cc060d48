import { useState } from "preact/hooks";
import { TextField, useText } from "../../shared/form.tsx";
import { readUserID } from "../../shared/readUserID.ts";
import { go } from "../../shared/router.ts";
import { call, type User } from "../shared/api.ts";
import { Confirm, FormDialog } from "../shared/dialogs.tsx";
import { useAction } from "../shared/useCall.ts";

interface EndUserProps {
  user: User;
  userIDHex: string;
  reload: () => void;
}

export function EndUserCard({ user, userIDHex, reload }: EndUserProps) {
  const [open, setOpen] = useState<"deactivate" | "erase">();
  const close = () => {
    setOpen(undefined);
  };
  return (
    <section class="card" aria-labelledby="end-title">
      <h2 id="end-title">End this user</h2>
      <div class="buttons">
        {user.deactivated === null && (
          <button
            type="button"
            class="button"
            onClick={() => {
              setOpen("deactivate");
            }}
          >
            Deactivate
          </button>
        )}
        <button
          type="button"
          class="button button-danger"
          onClick={() => {
            setOpen("erase");
          }}
        >
          Erase
        </button>
      </div>
      {open === "deactivate" && (
        <Confirm
          title="Deactivate this user?"
          action="Deactivate"
          isDanger
          onConfirm={async () => {
            await call("/v1/authdBizSrv/users/deactivate", { user_id_hex: userIDHex });
            close();
            reload();
          }}
          onCancel={close}
        >
          <p>All tokens of this user are rejected permanently, and a published key remains published and verifiable.</p>
          <p class="detail">You verify with your passkey.</p>
        </Confirm>
      )}
      {open === "erase" && <EraseDialog userID={user.user_id} userIDHex={userIDHex} onCancel={close} />}
    </section>
  );
}

function EraseDialog({ userID, userIDHex, onCancel }: { userID: string; userIDHex: string; onCancel: () => void }) {
  const { text, setError, field } = useText();
  const erase = useAction(async () => {
    const read = readUserID(text);
    const isSame = "userID" in read && read.userID === userID;
    setError(isSame ? undefined : "error" in read ? read.error : "This is the id of another user.");
    if (!isSame) return;
    await call("/v1/authdBizSrv/users/erase", { user_id_hex: userIDHex });
    go("users");
  });
  return (
    <FormDialog
      title="Erase this user?"
      action="Erase"
      busy={erase.busy}
      error={erase.error}
      isDanger
      onSubmit={erase.run}
      onCancel={onCancel}
    >
      <p>
        The user’s data and tokens are deleted permanently, and the id cannot be used again. Only a key that is
        published or is being published remains, with its user id.
      </p>
      <TextField label="Type the user id to confirm" hint={<code>{userID}</code>} {...field} />
      <p class="detail">You verify with your passkey.</p>
    </FormDialog>
  );
}
