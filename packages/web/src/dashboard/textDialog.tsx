import { useState } from "preact/hooks";
import { Field } from "../shared/field.tsx";
import { Dialog, Failure } from "./parts.tsx";
import { useAction } from "./useCall.ts";

interface TextDialogProps {
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
    <Dialog title={title} onCancel={onCancel}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <Field label={label} hint={hint} error={detail && `${subject} ${detail}.`}>
          {(attributes) => (
            <input
              {...attributes}
              type="text"
              class="plain"
              autocomplete="off"
              value={text}
              onInput={({ currentTarget }) => {
                setText(currentTarget.value);
              }}
            />
          )}
        </Field>
        {note !== undefined && <p class="detail">{note}</p>}
        <Failure error={detail === undefined ? error : undefined} />
        <div class="buttons">
          <button type="submit" class="button button-primary" disabled={busy}>
            {action}
          </button>
          <button type="button" class="button" onClick={onCancel}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}
