import type { ComponentChildren } from "preact";
import { Field, type FieldProps } from "./field.tsx";

interface TextFieldProps extends Omit<FieldProps, "children"> {
  value: string;
  onInput: (text: string) => void;
  /** Whether people write words, such as a name. Ids, keys and hashes are shown in a fixed width, and never corrected. */
  isWords?: boolean;
  /** The rows of a longer text. Default one line. */
  rows?: number;
  type?: "text" | "url" | "search";
  placeholder?: string;
  maxLength?: number;
  /** In the same row, such as the button that sends it. */
  beside?: ComponentChildren;
}

/** A text with its label, hint and error. */
export function TextField(props: TextFieldProps) {
  const { value, onInput, isWords = false, rows, type = "text", placeholder, maxLength, beside, ...field } = props;
  return (
    <Field {...field}>
      {(attributes) => {
        const all = {
          ...attributes,
          autocomplete: "off",
          ...(isWords ? { class: "plain" } : ({ spellcheck: false, autocapitalize: "off" } as const)),
          ...{ placeholder, maxLength, value },
          onInput: ({ currentTarget }: { currentTarget: { value: string } }) => {
            onInput(currentTarget.value);
          },
        };
        const kind: { type: "text" } | { type: "url" } | { type: "search" } = { type };
        const input = rows === undefined ? <input {...all} {...kind} /> : <textarea {...all} rows={rows} />;
        if (beside === undefined) return input;
        return (
          <span class="search-row">
            {input}
            {beside}
          </span>
        );
      }}
    </Field>
  );
}
