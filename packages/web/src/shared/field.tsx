import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** The attributes that connect an input with its label, hint and error. */
interface FieldAttributes {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": "true" | undefined;
}

export interface FieldProps {
  label: string;
  hint?: ComponentChildren;
  /** Shown beside the input. Undefined if the input is valid. */
  error?: string | undefined;
  children: (attributes: FieldAttributes) => ComponentChildren;
}

/** An input with its label, hint and error. */
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
