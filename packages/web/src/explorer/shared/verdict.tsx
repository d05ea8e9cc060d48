import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "../../shared/icon.tsx";

/** The kind of a result. `weak` rests on servers' words, and `neutral` verifies no key. */
export type Tone = "good" | "weak" | "bad" | "open" | "neutral" | "busy";

const ICONS: Readonly<Record<Tone, IconName | undefined>> = {
  good: "check",
  weak: "check",
  bad: "cross",
  open: "warning",
  neutral: "check",
  busy: undefined,
};

interface VerdictProps {
  tone: Tone;
  title: string;
  /** Whether to reserve space for the result of a verification, so that the page does not move. */
  isTall?: boolean;
  children: ComponentChildren;
}

const VERDICT = "verdict";

/** Scrolls to the verdict and focuses the verdict, for forms under the verdict. */
export function goToVerdict(): void {
  const verdict = document.getElementById(VERDICT);
  verdict?.focus({ preventScroll: true });
  verdict?.scrollIntoView({ block: "center" });
}

/** The element with the form for choosing the evidence. */
export const EVIDENCE = "evidence";

/** Scrolls to the form for choosing the evidence, and focuses its first field. */
export function goToEvidence(): void {
  const form = document.getElementById(EVIDENCE);
  form?.scrollIntoView({ block: "center" });
  form?.querySelector("select")?.focus({ preventScroll: true });
}

/** Shows a result in one sentence, with the result's evidence. */
export function Verdict({ tone, title, isTall = false, children }: VerdictProps) {
  const icon = ICONS[tone];
  return (
    <section
      id={VERDICT}
      class={`verdict verdict-${tone} ${isTall ? "verdict-tall" : ""}`}
      data-verdict={tone}
      tabIndex={-1}
      aria-live="polite"
      aria-atomic="true"
    >
      <span class="verdict-mark">{icon && <Icon name={icon} />}</span>
      <div>
        <h2>{title}</h2>
        {children}
      </div>
    </section>
  );
}

export function RetryButton({ retry }: { retry: () => void }) {
  return (
    <button type="button" class="button" onClick={retry}>
      Try again
    </button>
  );
}
