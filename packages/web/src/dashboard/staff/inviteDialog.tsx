import { useState } from "preact/hooks";
import { TextField } from "../../shared/form.tsx";
import { Time } from "../../shared/time.tsx";
import type { Invitation, Role } from "../shared/api.ts";
import { FormDialog, Secret } from "../shared/dialogs.tsx";
import { useAction } from "../shared/useCall.ts";

interface InviteDialogProps {
  title: string;
  /** The hint under the name field. */
  hint?: string;
  initialRole: Role;
  invite: (person: { name: string; role: Role }) => Promise<Invitation>;
  onInvited: (invitation: Invitation) => void;
  onCancel: () => void;
}

/** A dialog that asks for a new person's name and role. */
export function InviteDialog({ title, hint, initialRole, invite, onInvited, onCancel }: InviteDialogProps) {
  const [name, setName] = useState("");
  const [role, setRole] = useState(initialRole);
  const [problem, setProblem] = useState<string>();
  const { run, busy, error } = useAction(async () => {
    setProblem(undefined);
    if (name.trim() === "") setProblem("Enter a name.");
    else onInvited(await invite({ name: name.trim(), role }));
  });
  const ofName = problem ?? (error?.code === "NAME_TAKEN" ? error.message : error?.fields["name"]);
  return (
    <FormDialog
      title={title}
      action="Create the link"
      busy={busy}
      error={ofName === undefined ? error : undefined}
      onSubmit={run}
      onCancel={onCancel}
    >
      <TextField label="Name" hint={hint} error={ofName} isWords value={name} onInput={setName} />
      <fieldset>
        <legend>Role</legend>
        {(
          [
            ["reader", "Reader", "can see everything except secrets"],
            ["administrator", "Administrator", "can also create and revoke tokens, and invite people"],
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
      <p class="detail">You confirm with your passkey. Then you get a link for this person.</p>
    </FormDialog>
  );
}

/** Shows the link of an invitation until the person clicks Done. */
export function InvitationSecret({
  invitation: { name, url, expires },
  onDone,
}: {
  invitation: Invitation;
  onDone: () => void;
}) {
  return (
    <Secret title={`Invitation for ${name}`} name="the link" value={url} onDone={onDone}>
      <p>
        Give this link to {name} only. It works once, until <Time ms={expires} />, and is not shown again.
      </p>
    </Secret>
  );
}
