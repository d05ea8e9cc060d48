import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { shorten } from "./format.ts";
import { Icon } from "./icon.tsx";

/** A complete value with a copy button. @param props with `href`, the value is a link */
export function Value({ value, name, href }: { value: string; name: string; href?: string | undefined }) {
  const text = <code>{value}</code>;
  return (
    <span class="value">
      <Link href={href}>{text}</Link>
      <CopyButton text={value} label={`Copy ${name}`} />
    </span>
  );
}

/**
 * A shortened value with a copy button. The tooltip shows the complete value.
 * @param props with `href`, the value is a link
 */
export function ShortValue({ value, name, href }: { value: string; name: string; href?: string | undefined }) {
  const text = <code title={value}>{shorten(value)}</code>;
  return (
    <span class="short-value">
      <Link href={href}>{text}</Link>
      <CopyButton text={value} label={`Copy ${name} ${shorten(value)}`} />
    </span>
  );
}

/** A link, or only its text if `href` is undefined. Links to other sites open in a new tab and send no referrer. */
export function Link({ href, children }: { href: string | undefined; children: ComponentChildren }) {
  if (href === undefined) return <>{children}</>;
  const away = href.startsWith("#") ? {} : { rel: "noreferrer", target: "_blank" };
  return (
    <a href={href} {...away}>
      {children}
    </a>
  );
}

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

/**
 * A button that copies a text, and shows the result for two seconds. If copying fails, the error stays until the next
 * copy.
 */
function CopyButton({ text, label }: { text: string; label: string }) {
  const [state, setState] = useState<"idle" | "copied" | "failed">("idle");
  useEffect(() => {
    if (state !== "copied") return undefined;
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
        <Icon name={state === "copied" ? "check" : state === "failed" ? "cross" : "copy"} />
      </button>
      <span role="status" class={state === "failed" ? "error" : "visually-hidden"}>
        {state === "copied" ? "Copied." : state === "failed" ? "Not copied. Select the text instead." : ""}
      </span>
    </>
  );
}
