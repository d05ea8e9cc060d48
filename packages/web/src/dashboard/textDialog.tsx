import { useState } from "preact/hooks";
import { TextField } from "../shared/textField.tsx";
import { FormDialog } from "./parts.tsx";
import { useAction } from "./useCall.ts";

export interface TextDialogProps {
  title: string;
  label: string;
  hint: string;
  /** The field of the request that has the text. */
  field: string;
  /** What errors call it, such as "The name". */
  subject: string;
  initial?: string;
  /** Whether the text may be empty. */
  optional?: boolean;
  note?: string;
  action: string;
  /** @param text without spaces at its ends; undefined if it is empty */
  onSubmit: (text: string | undefined) => Promise<void>;
  onCancel: () => void;
}

/** Asks for one text. What is wrong with it is shown beside it, and the text is kept. */
export function TextDialog(props: TextDialogProps) {
  const {
    title,
    label,
    hint,
    field,
    subject,
    initial = "",
    optional = false,
    note,
    action,
    onSubmit,
    onCancel,
  } = props;
  const [text, setText] = useState(initial);
  const [isMissing, setMissing] = useState(false);
  const { run, busy, error } = useAction(async () => {
    const trimmed = text.trim();
    setMissing(trimmed === "" && !optional);
    if (trimmed !== "" || optional) await onSubmit(trimmed === "" ? undefined : trimmed);
  });
  const detail = isMissing ? "is missing" : error?.fields[field];
  return (
    <FormDialog
      title={title}
      action={action}
      busy={busy}
      error={detail === undefined ? error : undefined}
      onSubmit={run}
      onCancel={onCancel}
    >
      <TextField
        label={label}
        hint={hint}
        error={detail && `${subject} ${detail}.`}
        isWords
        value={text}
        onInput={setText}
      />
      {note !== undefined && <p class="detail">{note}</p>}
    </FormDialog>
  );
}
