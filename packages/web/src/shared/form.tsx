import type { ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";

interface FormProps {
  class?: string;
  role?: "search";
  /**
   * Submits the form. The function must set field errors before the function returns or before the returned promise
   * resolves.
   */
  onSubmit: () => unknown;
  children: ComponentChildren;
}

/** A form. After it is submitted, the first field with an error gets the focus and keeps its text. */
export function Form({ onSubmit, children, ...attributes }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const submit = async () => {
    await onSubmit();
    // Wait until the errors are rendered.
    setTimeout(() => form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus());
  };
  return (
    <form
      {...attributes}
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      {children}
    </form>
  );
}

/** Attributes that connect an input with the input's label, hint and error. */
interface FieldAttributes {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": "true" | undefined;
}

export interface FieldProps {
  label: string;
  hint?: ComponentChildren;
  /** The error message beside the input. Undefined if the input is valid. */
  error?: string | undefined;
  children: (attributes: FieldAttributes) => ComponentChildren;
}

export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  const described = [hint === undefined ? "" : `${id}-hint`, error === undefined ? "" : `${id}-error`];
  const attributes: FieldAttributes = {
    id,
    "aria-describedby": described.join(" ").trim() || undefined,
    "aria-invalid": error === undefined ? undefined : "true",
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(attributes)}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <p class="error" id={`${id}-error`} role="alert">
        {error}
      </p>
    </div>
  );
}

interface TextFieldProps extends Omit<FieldProps, "children"> {
  value: string;
  onInput: (text: string) => void;
  /** Whether the field is for words, such as a name. Other fields have a fixed-width font and no spell checking. */
  isWords?: boolean;
  /** Number of rows for a longer text. Default: a single line. */
  rows?: number;
  type?: "text" | "url" | "search";
  placeholder?: string;
  maxLength?: number;
  /** An element in the same row, such as the submit button. */
  beside?: ComponentChildren;
}

/** A text that a person enters. */
interface EnteredText {
  text: string;
  setError: (error: string | undefined) => void;
  /** The properties of the `TextField`. */
  field: Pick<TextFieldProps, "value" | "error" | "onInput">;
}

/** Keeps the text of a `TextField`. Keeps the field's error until the next input. */
export function useText(initial = "", initialError?: string): EnteredText {
  const [text, setText] = useState(initial);
  const [error, setError] = useState(initialError);
  const onInput = (entered: string) => {
    setText(entered);
    setError(undefined);
  };
  return { text, setError, field: { value: text, error, onInput } };
}

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

interface SelectProps {
  label: string;
  hint?: ComponentChildren;
  value: string;
  set: (value: string) => void;
  options: readonly (readonly [value: string, text: string])[];
}

export function Select({ label, hint, value, set, options }: SelectProps) {
  return (
    <Field label={label} hint={hint}>
      {(attributes) => (
        <select
          {...attributes}
          value={value}
          onChange={({ currentTarget }) => {
            set(currentTarget.value);
          }}
        >
          {options.map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
