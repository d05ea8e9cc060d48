import { useState } from "preact/hooks";
import { Field } from "./field.tsx";
import { Icon } from "./icon.tsx";
import { go } from "./router.ts";
import { readUserID } from "./userIDInput.ts";

interface SearchFormProps {
  initial?: string;
  /** The page to which the id belongs, such as `verify`. */
  page: string;
  action: string;
}

/** The field for a user id. */
export function SearchForm({ initial = "", page, action }: SearchFormProps) {
  const [text, setText] = useState(initial);
  const [error, setError] = useState<string>();
  const submit = (event: Event) => {
    event.preventDefault();
    const read = readUserID(text);
    if ("error" in read) setError(read.error);
    else go(`${page}/${read.userID}`);
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
              <Icon name="search" /> {action}
            </button>
          </span>
        )}
      </Field>
    </form>
  );
}
