import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Value } from "../shared/code.tsx";
import { Form } from "../shared/form.tsx";
import { Icon } from "../shared/icon.tsx";
import type { CallError } from "./api.ts";

interface DialogProps {
  title: string;
  /** Called when the person leaves with Escape. Undefined if the dialog must be answered. */
  onCancel?: (() => void) | undefined;
  children: ComponentChildren;
}

/** A dialog above the page, which is inert meanwhile. It is open as long as it is drawn. */
function Dialog({ title, onCancel, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={id}
      onCancel={(event) => {
        // The dialog closes when it is no longer drawn.
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
  busy: boolean;
  error: CallError | undefined;
  onConfirm: () => void;
  onCancel: () => void;
}

/** Asks before something that cannot be undone. */
export function Confirm({ title, children, action, busy, error, onConfirm, onCancel }: ConfirmProps) {
  return (
    <Dialog title={title} onCancel={onCancel}>
      {children}
      <Failure error={error} />
      <div class="buttons">
        <button type="button" class="button button-danger" disabled={busy} onClick={onConfirm}>
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
  onSubmit: () => Promise<void>;
  onCancel: () => void;
}

/** A form in a dialog. @param props with an `error` that no field shows */
export function FormDialog({ title, children, action, busy, error, onSubmit, onCancel }: FormDialogProps) {
  return (
    <Dialog title={title} onCancel={onCancel}>
      <Form onSubmit={onSubmit}>
        {children}
        <Failure error={error} />
        <div class="buttons">
          <button type="submit" class="button button-primary" disabled={busy}>
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
  /** Forgets the value. */
  onDone: () => void;
}

/** Shows a secret until Done, or until the page is left: a page that comes back with Back does not have it any more. */
export function Secret({ title, name, value, children, onDone }: SecretProps) {
  useEffect(() => {
    addEventListener("pagehide", onDone);
    return () => {
      removeEventListener("pagehide", onDone);
    };
  }, [onDone]);
  return (
    <Dialog title={title}>
      {children}
      <div class="secret" data-secret>
        <Value value={value} name={name} />
      </div>
      <div class="buttons">
        <button type="button" class="button button-primary" onClick={onDone}>
          Done
        </button>
      </div>
    </Dialog>
  );
}

interface CardHeadProps {
  /** Names the section. */
  id: string;
  title: ComponentChildren;
  /** The text of the button. Undefined for none. */
  action?: string | undefined;
  onAction: () => void;
}

/** The title of a section, with the button of what people do most in it. */
export function CardHead({ id, title, action, onAction }: CardHeadProps) {
  return (
    <div class="card-head">
      <h2 id={id}>{title}</h2>
      {action !== undefined && (
        <button type="button" class="button button-primary" onClick={onAction}>
          {action}
        </button>
      )}
    </div>
  );
}

/** Why a call failed, with a button to repeat it. */
export function Failure({ error, retry }: { error: CallError | undefined; retry?: () => void }) {
  return (
    <div role="alert">
      {error && (
        <div class="failure">
          <Icon name="warning" />
          <p>
            {error.message} <code>{error.code}</code>
          </p>
          {retry && (
            <button type="button" class="button" onClick={retry}>
              Try again
            </button>
          )}
        </div>
      )}
    </div>
  );
}

const TIME_FORMAT = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });

/** A time in milliseconds since 1970, in the person's time zone. */
export function Time({ ms }: { ms: number }) {
  const date = new Date(ms);
  return <time dateTime={date.toISOString()}>{TIME_FORMAT.format(date)}</time>;
}

/** The rest of a list: an error, or a button for the next page. */
export function ListEnd({
  pages,
}: {
  pages: { error: CallError | undefined; busy: boolean; hasMore: boolean; loadMore: () => void };
}) {
  const { error, busy, hasMore, loadMore } = pages;
  return (
    <>
      <Failure error={error} retry={loadMore} />
      {hasMore && error === undefined && (
        <button type="button" class="button" disabled={busy} onClick={loadMore}>
          Show more
        </button>
      )}
    </>
  );
}
