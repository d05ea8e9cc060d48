import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { Form, TextField, useText } from "./form.tsx";
import { Icon } from "./icon.tsx";
import { readUserID } from "./readUserID.ts";
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
  /** Reads input that is not a user id. @returns the route to open, or undefined */
  readOther?: (text: string) => string | undefined;
  /** Whether the "/" key moves the focus to the input. */
  hasShortcut?: boolean;
}

/** A form that opens the page of a user id. */
export function SearchForm(props: SearchFormProps) {
  const { initial = "", page, action, label = "User id", hint = "32 characters, or 40 hex digits", readOther } = props;
  const { hasShortcut = false } = props;
  const { text, setError, field } = useText(initial, initial === "" ? undefined : errorOf(initial));
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
    const read = readUserID(text);
    const other = readOther?.(text.trim().toLowerCase());
    if (other !== undefined) go(other);
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

function errorOf(text: string): string | undefined {
  const read = readUserID(text);
  return "error" in read ? read.error : undefined;
}
