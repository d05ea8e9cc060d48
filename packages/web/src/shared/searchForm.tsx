import { useState } from "preact/hooks";
import { Form } from "./form.tsx";
import { Icon } from "./icon.tsx";
import { go } from "./router.ts";
import { TextField } from "./textField.tsx";
import { readUserID } from "./userIDInput.ts";

interface SearchFormProps {
  /** From the address. What is wrong with it is shown at once. */
  initial?: string;
  /** The page to which the id belongs, such as `verify`. */
  page: string;
  action: string;
}

/** The field for a user id. */
export function SearchForm({ initial = "", page, action }: SearchFormProps) {
  const [text, setText] = useState(initial);
  const [error, setError] = useState(() => (initial === "" ? undefined : errorOf(initial)));
  const submit = () => {
    const read = readUserID(text);
    if ("error" in read) setError(read.error);
    else go(`${page}/${read.userID}`);
  };
  return (
    <Form class="search" onSubmit={submit}>
      <TextField
        label="User id"
        hint="32 characters, or 40 hex digits"
        error={error}
        value={text}
        onInput={(entered) => {
          setText(entered);
          setError(undefined);
        }}
        beside={
          <button type="submit" class="button button-primary">
            <Icon name="search" /> {action}
          </button>
        }
      />
    </Form>
  );
}

function errorOf(text: string): string | undefined {
  const read = readUserID(text);
  return "error" in read ? read.error : undefined;
}
