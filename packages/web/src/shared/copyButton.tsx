import { useEffect, useState } from "preact/hooks";
import { Icon } from "./icon.tsx";

/** A button that copies a text, and says so for two seconds. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [state, setState] = useState<"idle" | "copied" | "failed">("idle");
  useEffect(() => {
    if (state === "idle") return undefined;
    const timer = setTimeout(() => {
      setState("idle");
    }, 2000);
    return () => {
      clearTimeout(timer);
    };
  }, [state]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setState("copied");
    } catch {
      setState("failed");
    }
  };
  return (
    <>
      <button type="button" class="icon-button" aria-label={label} title={label} onClick={() => void copy()}>
        <Icon name={state === "copied" ? "check" : "copy"} />
      </button>
      <span role="status" class="visually-hidden">
        {state === "copied" ? "Copied." : state === "failed" ? "Your browser did not allow copying." : ""}
      </span>
    </>
  );
}
