import type { VerificationStep } from "keyroot/internal/errors";
import { Icon, type IconName } from "../../shared/icon.tsx";
import { stepText } from "./stepTexts.tsx";
import { STEPS, type StepState, type Verification } from "./useVerification.ts";

const LABELS: Readonly<Record<StepState, string>> = {
  waiting: "Waiting",
  running: "Running",
  passed: "Passed",
  failed: "Failed",
  unknown: "Not reached",
};

const ICONS: Readonly<Record<StepState, IconName | undefined>> = {
  waiting: undefined,
  running: undefined,
  passed: "check",
  failed: "cross",
  unknown: "skip",
};

interface StepListProps {
  states: Record<VerificationStep, StepState>;
  verification: Pick<Verification, "source" | "options" | "progress" | "outcome">;
}

/** The steps of a verification. Each step has a check and the sources on which the check relies. */
export function StepList({ states, verification }: StepListProps) {
  const { outcome } = verification;
  const failure = outcome && "failure" in outcome ? outcome.failure : undefined;
  return (
    <ol class="steps">
      {STEPS.map((step) => {
        const state = states[step];
        const { title, term, checked, relies } = stepText(step, verification);
        const icon = ICONS[state];
        return (
          <li key={step} class={`step step-${state}`} data-step={step} data-state={state}>
            <details key={state} open={state === "failed"}>
              <summary>
                <span class="step-mark">{icon && <Icon name={icon} />}</span>
                <h3>{title}</h3> <span class="step-state">{LABELS[state]}</span>
              </summary>
              <div class="step-result">
                {state === "passed" && <p>{checked}</p>}
                {state === "failed" && failure && (
                  <>
                    <p>
                      Failed with <code class="error-code">{failure.code}</code>.
                    </p>
                    <p class="detail">{failure.message}</p>
                  </>
                )}
                {state !== "failed" && (
                  <p class="relies">
                    <b>Relies on</b> {relies}
                  </p>
                )}
                <p class="term">{term}</p>
              </div>
            </details>
          </li>
        );
      })}
    </ol>
  );
}
