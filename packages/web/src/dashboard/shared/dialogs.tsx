import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Value } from "../../shared/copyable.tsx";
import { Form, TextField } from "../../shared/form.tsx";
import { useWindowEvent } from "../../shared/useWindowEvent.ts";
import type { CallError } from "./send.ts";
import { Failure } from "./cards.tsx";
import { useAction } from "./useCall.ts";

interface DialogProps {
  title: string;
  /** Called after the Escape key. If undefined, Escape does nothing. */
  onCancel?: (() => void) | undefined;
  children: ComponentChildren;
}

/**
 * A modal dialog, which is open while the component is rendered. When it closes, the element that had the focus before
 * gets it back.
 */
export function Dialog({ title, onCancel, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the next key is pressed, so that the dialog receives it.
  useLayoutEffect(() => {
    const { current } = dialog;
    current?.showModal();
    return () => current?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={id}
      onCancel={(event) => {
        // The parent component closes the dialog.
        event.preventDefault();
        onCancel?.();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  children: ComponentChildren;
  action: string;
  /** Whether the action destroys something. Its button is then red. */
  isDanger?: boolean;
  onConfirm: () => Promise<void>;
  onCancel: () => void;
}

/** A dialog that asks for confirmation before an action. */
export function Confirm({ title, children, action, isDanger = false, onConfirm, onCancel }: ConfirmProps) {
  const { run, busy, error } = useAction(onConfirm);
  return (
    <Dialog title={title} onCancel={onCancel}>
      {children}
      <Failure error={error} />
      <div class="buttons">
        <button
          type="button"
          class={isDanger ? "button button-danger" : "button button-primary"}
          disabled={busy}
          onClick={() => void run()}
        >
          {action}
        </button>
        <button type="button" class="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}

interface FormDialogProps {
  title: string;
  children: ComponentChildren;
  action: string;
  busy: boolean;
  error: CallError | undefined;
  /** Whether the action destroys something. Its button is then red. */
  isDanger?: boolean;
  onSubmit: () => Promise<void>;
  onCancel: () => void;
}

/** A form in a dialog. @param props `error` is undefined if a field shows the error */
export function FormDialog(props: FormDialogProps) {
  const { title, children, action, busy, error, isDanger = false, onSubmit, onCancel } = props;
  return (
    <Dialog title={title} onCancel={onCancel}>
      <Form onSubmit={onSubmit}>
        {children}
        <Failure error={error} />
        <div class="buttons">
          <button type="submit" class={`button button-${isDanger ? "danger" : "primary"}`} disabled={busy}>
            {action}
          </button>
          <button type="button" class="button" onClick={onCancel}>
            Cancel
          </button>
        </div>
      </Form>
    </Dialog>
  );
}

interface SecretProps {
  title: string;
  name: string;
  value: string;
  children: ComponentChildren;
  /** What to do with the secret, shown below it. */
  steps?: ComponentChildren;
  /** Deletes the secret from the page's state. */
  onDone: () => void;
}

/** Shows a secret until the person clicks Done or leaves the page. The Back button does not show it again. */
export function Secret({ title, name, value, children, steps, onDone }: SecretProps) {
  useWindowEvent("pagehide", onDone);
  return (
    <Dialog title={title}>
      {children}
      <div class="secret" data-secret>
        <Value value={value} name={name} />
      </div>
      {steps}
      <div class="buttons">
        <button type="button" class="button button-primary" onClick={onDone}>
          Done
        </button>
      </div>
    </Dialog>
  );
}

export interface TextDialogProps {
  title: string;
  label: string;
  hint: string;
  /** The request field that contains the text. Errors name this field. */
  field: string;
  /** The subject of error messages, such as "The name". */
  subject: string;
  initial?: string;
  /** Whether the text may be empty. */
  optional?: boolean;
  note?: string;
  action: string;
  /** @param text the text without spaces at the start and the end. Undefined for an empty text */
  onSubmit: (text: string | undefined) => Promise<void>;
  onCancel: () => void;
}

/** A dialog that asks for one text. Errors appear beside the field, which keeps the text. */
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
