import type { Evidence } from "keyroot";
import { shorten } from "../../shared/format.ts";
import { Meaning, Remedy } from "../shared/explanation.tsx";
import { RetryButton, Verdict } from "../shared/verdict.tsx";
import type { Failure, Options } from "../worker/messages.ts";
import { Term } from "../../shared/term.tsx";
import { sourceNamed } from "./sources.ts";
import { TITLES } from "./stepTexts.tsx";
import { STEPS, stepStates, type Verification } from "./useVerification.ts";

export function VerificationVerdict({
  verification,
  retry,
}: {
  verification: Verification;
  retry?: (() => void) | undefined;
}) {
  const { outcome, defect, options, duration } = verification;
  if (defect !== undefined) {
    return (
      <Verdict tone="open" title="Not verified" isTall>
        <p>This page has a defect: {defect} The key was not verified.</p>
        {retry && <RetryButton retry={retry} />}
      </Verdict>
    );
  }
  if (outcome === undefined) {
    return (
      <Verdict tone="busy" title="Verifying …" isTall>
        <p key="busy">Your browser checks every step itself. {stepInProgress(verification)}</p>
      </Verdict>
    );
  }
  if ("failure" in outcome) return <FailureVerdict failure={outcome.failure} options={options} retry={retry} />;
  const { evidence, uniqueness } = outcome.verified;
  const compared =
    uniqueness === "unchecked"
      ? "This key is published for the user"
      : options.expectedPublicKey === undefined
        ? "This is the user’s published key"
        : "The server’s key is the published key";
  return (
    <Verdict tone="good" title={compared} isTall>
      <p>
        Your browser checked every step{duration === undefined ? "" : ` in ${Math.round(duration)} ms`}.{" "}
        <b>This rests on</b> {sourceNamed(evidence.source).restsOn(evidence, options)}
        {uniqueness === "unchecked" && " Only the whole file can show that it contains no second key of the user."}
      </p>
    </Verdict>
  );
}

function stepInProgress(verification: Verification): string {
  const states = stepStates(verification);
  const running = STEPS.findIndex((step) => states[step] === "running");
  const step = STEPS[running];
  return step === undefined ? "" : `Step ${running + 1} of ${STEPS.length}: ${TITLES[step]}.`;
}

interface FailureVerdictProps {
  failure: Failure;
  options: Options;
  retry: (() => void) | undefined;
}

/** Explains a failure and the failure's remedy. The failed step shows the values. */
function FailureVerdict({ failure, options, retry }: FailureVerdictProps) {
  const { name, code = "", advice, evidence } = failure;
  const isArgument = advice === "developer" && !(name === "VerificationError" && options.isAttack === true);
  if (name !== "VerificationError" || isArgument) {
    return (
      <Verdict tone="open" title={isArgument ? "Nothing was checked" : "Not verified"} isTall>
        <Meaning code={code} />
        <Remedy code={code} />
        {!isArgument && retry && <RetryButton retry={retry} />}
      </Verdict>
    );
  }
  const isAbsent = code === "NOT_PUBLISHED";
  return (
    <Verdict
      tone={isAbsent ? "open" : "bad"}
      title={isAbsent ? "No key is published for this user" : "Do not use this key"}
      isTall
    >
      {!isAbsent && <Meaning code={code} />}
      {isAbsent ? <Absent evidence={evidence} options={options} /> : <Remedy code={code} />}
    </Verdict>
  );
}

/** Describes a user without a root, and what the visitor can do. */
function Absent({ evidence, options }: { evidence: Evidence | undefined; options: Options }) {
  return (
    <>
      <p>
        <code class="error-code">NOT_PUBLISHED</code> The contract has no root for this user id.
        {evidence && (
          <>
            {" "}
            <b>This rests on</b> {sourceNamed(evidence.source).restsOn(evidence, options)}
          </>
        )}
      </p>
      <ul class="hints">
        <li>
          <b>Not yet published?</b> A new key waits for its <Term of="hold period" />, often a day, and for the next{" "}
          <Term of="batch" />. Verify again later.
        </li>
        <li>
          <b>Another id?</b> Compare the id with the one that the user’s own app shows.
        </li>
        <li>
          <b>Another registry?</b> This page reads <Term of="chain" /> {options.chainId}, contract{" "}
          <code title={options.contract}>{shorten(options.contract)}</code>.
        </li>
      </ul>
    </>
  );
}
