import { useCallback, useState } from "preact/hooks";
import { TextField } from "../shared/textField.tsx";
import type { Invitation, Role } from "./api.ts";
import { FormDialog, Secret, Time } from "./parts.tsx";
import { useAction } from "./useCall.ts";

interface InviteDialogProps {
  title: string;
  /** Beside the name. */
  hint?: string;
  initialRole: Role;
  invite: (person: { name: string; role: Role }) => Promise<Invitation>;
  onInvited: (invitation: Invitation) => void;
  onCancel: () => void;
}

/** Asks for the name and the role of a new person. */
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
    </FormDialog>
  );
}

/** The link of an invitation, until Done. */
export function InvitationSecret({
  invitation: { name, url, expires },
  onDone,
}: {
  invitation: Invitation;
  onDone: () => void;
}) {
  // Kept the same while the dialog is open: it listens with it.
  const done = useCallback(onDone, []);
  return (
    <Secret title={`Invitation for ${name}`} name="the link" value={url} onDone={done}>
      <p>
        Give this link to {name} only. It works once, until <Time ms={expires} />, and is not shown again.
      </p>
    </Secret>
  );
}
