import { goToEvidence } from "../shared/verdict.tsx";
import { type Strength, STRENGTHS } from "./sources.ts";

interface MeterProps {
  strength: Strength;
  label: string;
  /** Whether the page has a form for choosing other evidence. */
  canChange: boolean;
}

/** Shows how strong the evidence is, in three steps, and its source. */
export function Meter({ strength, label, canChange }: MeterProps) {
  const level = STRENGTHS.indexOf(strength) + 1;
  return (
    <p class={`meter meter-${level}`}>
      <span aria-hidden="true">
        {STRENGTHS.map((step, i) => (
          <i key={step} class={i < level ? "meter-reached" : undefined} />
        ))}
      </span>
      <span>
        Evidence: {strength} ({level} of {STRENGTHS.length}) · {label}
        {canChange && (
          <>
            {" · "}
            <button type="button" class="link-button" onClick={goToEvidence}>
              change<span class="visually-hidden"> the evidence</span>
            </button>
          </>
        )}
      </span>
    </p>
  );
}
