import { useState } from "preact/hooks";
import { Field } from "../shared/field.tsx";
import { call, type Invitation } from "./api.ts";
import { Dialog, Failure } from "./parts.tsx";
import { useAction } from "./useCall.ts";

/** Asks for the name and the role of a new person. */
export function InviteDialog({
  onInvited,
  onCancel,
}: {
  onInvited: (invitation: Invitation) => void;
  onCancel: () => void;
}) {
  const [name, setName] = useState("");
  const [role, setRole] = useState("reader");
  const [problem, setProblem] = useState<string>();
  const { run, busy, error } = useAction(async () => {
    setProblem(undefined);
    if (name.trim() === "") setProblem("Enter a name.");
    else onInvited(await call<Invitation>("staff/invite", { name: name.trim(), role }));
  });
  const ofName = problem ?? (error?.code === "NAME_TAKEN" ? error.message : error?.fields["name"]);
  return (
    <Dialog title="Invite a person" onCancel={onCancel}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <Field label="Name" error={ofName}>
          {(attributes) => (
            <input
              {...attributes}
              type="text"
              class="plain"
              autocomplete="off"
              value={name}
              onInput={({ currentTarget }) => {
                setName(currentTarget.value);
              }}
            />
          )}
        </Field>
        <fieldset>
          <legend>Role</legend>
          {(
            [
              ["reader", "Reader", "sees everything except secrets"],
              ["administrator", "Administrator", "also creates and revokes tokens, and invites people"],
            ] as const
          ).map(([value, label, hint]) => (
            <label key={value} class="choice">
              <input
                type="radio"
                name="role"
                checked={role === value}
                onChange={() => {
                  setRole(value);
                }}
              />
              <span>
                {label} <small>{hint}</small>
              </span>
            </label>
          ))}
        </fieldset>
        <p class="detail">You verify with your passkey, then you get a link for this person.</p>
        <Failure error={ofName === undefined ? error : undefined} />
        <div class="buttons">
          <button type="submit" class="button button-primary" disabled={busy}>
            Create the link
          </button>
          <button type="button" class="button" onClick={onCancel}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}
