import { CopyButton } from "./copyButton.tsx";

/** A long value, whole, with a button to copy it. */
export function Value({ value, name }: { value: string; name: string }) {
  return (
    <span class="value">
      <code>{value}</code>
      <CopyButton text={value} label={`Copy ${name}`} />
    </span>
  );
}

/** A command line, with a button to copy it. */
export function Command({ command }: { command: string }) {
  return (
    <div class="command">
      <pre tabIndex={0} role="region" aria-label="Command">
        <code>{command}</code>
      </pre>
      <CopyButton text={command} label="Copy the command" />
    </div>
  );
}
