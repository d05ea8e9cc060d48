import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { Form, TextField, useText } from "./form.tsx";
import { Icon } from "./icon.tsx";
import { isBeginningOfUserID, readUserID } from "./readUserID.ts";
import { go } from "./router.ts";
import { useWindowEvent } from "./useWindowEvent.ts";

interface SearchFormProps {
  /** The user id in the address. If the user id is invalid, the form shows the error immediately. */
  initial?: string;
  /** The name of the page to open, such as `verify`. */
  page: string;
  action: string;
  label?: string;
  hint?: ComponentChildren;
  /** The contract's address, which is no user id. */
  contract?: string;
  /** Shows the ids that begin with a text. Undefined if the form accepts only whole ids. */
  onBeginning?: (beginning: string) => void;
  /** Whether the "/" key moves the focus to the input. */
  hasShortcut?: boolean;
}

/** A form that opens the page of a user id. */
export function SearchForm(props: SearchFormProps) {
  const { initial = "", page, action, label = "User id", hint = "32 characters, or 40 hex digits" } = props;
  const { hasShortcut = false, contract, onBeginning } = props;
  const isBeginning = onBeginning !== undefined && isBeginningOfUserID(initial);
  const isValid = initial === "" || isBeginning;
  const { text, setError, field } = useText(initial, isValid ? undefined : errorOf(initial, contract));
  const form = useRef<HTMLDivElement>(null);
  useWindowEvent("keydown", (event) => {
    const { tagName } = event.target as HTMLElement;
    if (!hasShortcut || event.key !== "/" || event.ctrlKey || event.metaKey) return;
    const input = form.current?.querySelector("input");
    if (!input || /^(?:INPUT|TEXTAREA|SELECT)$/.test(tagName) || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    input.focus();
  });
  const submit = () => {
    const read = readUserID(text, contract);
    if (onBeginning && isBeginningOfUserID(text)) onBeginning(text.trim().toLowerCase());
    else if ("error" in read) setError(read.error);
    else go(`${page}/${read.userID}`);
  };
  return (
    <div ref={form}>
      <Form class="search" onSubmit={submit}>
        <TextField
          label={label}
          hint={hint}
          {...field}
          beside={
            <button type="submit" class="button button-primary">
              <Icon name="search" /> {action}
            </button>
          }
        />
      </Form>
    </div>
  );
}

function errorOf(text: string, contract?: string): string | undefined {
  const read = readUserID(text, contract);
  return "error" in read ? read.error : undefined;
}
