import { useState } from "preact/hooks";
import { Field } from "../shared/field.tsx";
import { Icon } from "../shared/icon.tsx";
import { go } from "../shared/router.ts";
import { readUserID } from "./userIDInput.ts";

/** The field for a user id. */
export function SearchForm({ initial = "" }: { initial?: string }) {
  const [text, setText] = useState(initial);
  const [error, setError] = useState<string>();
  const submit = (event: Event) => {
    event.preventDefault();
    const read = readUserID(text);
    if ("error" in read) setError(read.error);
    else go(`verify/${read.userID}`);
  };
  return (
    <form class="search" onSubmit={submit} noValidate>
      <Field label="User id" hint="32 characters, or 40 hex digits" error={error}>
        {(attributes) => (
          <span class="search-row">
            <input
              {...attributes}
              type="text"
              spellcheck={false}
              autocomplete="off"
              autocapitalize="off"
              value={text}
              onInput={({ currentTarget }) => {
                setText(currentTarget.value);
                setError(undefined);
              }}
            />
            <button type="submit" class="button button-primary">
              <Icon name="search" /> Verify
            </button>
          </span>
        )}
      </Field>
    </form>
  );
}
