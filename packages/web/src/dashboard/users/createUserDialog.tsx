import { randomUserID, userIDToHex } from "keyroot/internal/identity";
import { useState } from "preact/hooks";
import { TextField, useText } from "../../shared/form.tsx";
import { REGION_NAMES } from "../../shared/format.ts";
import { readUserID } from "../../shared/readUserID.ts";
import { call, type User } from "../shared/api.ts";
import { FormDialog } from "../shared/dialogs.tsx";
import { useAction } from "../shared/useCall.ts";

/** Error codes that concern the user id. */
const ID_CODES = ["USER_ID_TAKEN", "USER_ERASED"];

/** A dialog that asks for a new user's id and region. The id is random unless the person enters another one. */
export function CreateUserDialog({
  onCreated,
  onCancel,
}: {
  onCreated: (user: Pick<User, "user_id">) => void;
  onCancel: () => void;
}) {
  const [randomID] = useState(randomUserID);
  const id = useText(randomID);
  const [region, setRegion] = useState<User["region"]>("us-west-2");
  const { run, busy, error } = useAction(async () => {
    const read = readUserID(id.text);
    id.setError("error" in read ? read.error : undefined);
    if ("error" in read) return;
    onCreated(await call("/v1/authdBizSrv/users/create", { user_id_hex: userIDToHex(read.userID), region }));
  });
  const ofID = id.field.error ?? (error && ID_CODES.includes(error.code) ? error.message : undefined);
  return (
    <FormDialog
      title="Create a user"
      action="Create"
      busy={busy}
      error={ofID === undefined ? error : undefined}
      onSubmit={run}
      onCancel={onCancel}
    >
      <TextField
        label="User id"
        hint="32 characters or 40 hex digits. Use a random id that does not identify the person."
        {...id.field}
        error={ofID}
      />
      <fieldset>
        <legend>Region</legend>
        {Object.entries(REGION_NAMES).map(([value, name]) => (
          <label key={value} class="choice">
            <input
              type="radio"
              name="region"
              checked={region === value}
              onChange={() => {
                setRegion(value as User["region"]);
              }}
            />
            <span>{name}</span>
          </label>
        ))}
      </fieldset>
      <p class="detail">The user’s data is stored in this region. You cannot change id or region later.</p>
    </FormDialog>
  );
}
