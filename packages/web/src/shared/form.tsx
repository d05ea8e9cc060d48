import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";

interface FormProps {
  class?: string;
  role?: "search";
  /** Has set the errors of the fields when it returns, or when its promise resolves. */
  onSubmit: () => unknown;
  children: ComponentChildren;
}

/** A form. After sending it, the focus goes to the first field that has an error, whose text the field keeps. */
export function Form({ onSubmit, children, ...attributes }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const submit = async () => {
    await onSubmit();
    // Once the errors are drawn.
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
