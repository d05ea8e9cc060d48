import type { Evidence, KeyRecord } from "keyroot";
import type { ComponentChildren } from "preact";
import { shorten } from "../../shared/format.ts";
import { Term } from "../../shared/term.tsx";
import { Explanation } from "../shared/explanation.tsx";
import { areKeys, KeyChips } from "./keyChips.tsx";
import { Meter } from "./meter.tsx";
import { RetryButton, type Tone, Verdict } from "../shared/verdict.tsx";
import type { Failure, Options, VerifiedResult } from "../worker/messages.ts";
import type { PastedKey } from "./pastedKey.ts";
import type { ComparedCodes } from "./safetyCodeForm.tsx";
import { sourceNamed } from "./sources.ts";
import { TITLES } from "./stepTexts.tsx";
import { isUnreadableBundle, STEPS, stepStates, type Verification } from "./useVerification.ts";

interface VerdictInput {
  verification: Verification;
  /** The comparison with the key that the visitor entered. */
  comparison: PastedKey;
  safetyCodes: ComparedCodes;
  retry: (() => void) | undefined;
}

/**
 * Says in one sentence whether the key is the published one, and on what this result rests. All results use the same
 * element, so the element keeps the focus when the result changes.
 */
export function VerificationVerdict({ tone, title, content }: VerdictContent) {
  return (
    <Verdict tone={tone} title={title} isTall>
      {content}
    </Verdict>
  );
}

interface VerdictContent {
  tone: Tone;
  title: string;
  content: ComponentChildren;
}

/** Returns the verdict about a verification and its comparisons. */
export function verdictOf({ verification, comparison, safetyCodes, retry }: VerdictInput): VerdictContent {
  const { outcome, defect, options } = verification;
  if (defect !== undefined)
    return {
      ...{ tone: "open", title: "Not verified" },
      content: (
        <>
          <p>This page has a defect: {defect} The key was not verified.</p>
          {retry && <RetryButton retry={retry} />}
        </>
      ),
    };
  if (outcome === undefined)
    return {
      ...{ tone: "busy", title: "Verifying …" },
      content: <p key="busy">Your browser checks every step itself. {stepInProgress(verification)}</p>,
    };
  if ("failure" in outcome) {
    if (isUnreadableBundle(verification)) return notABundle(outcome.failure);
    return failed(outcome.failure, options, retry);
  }
  if (comparison.state === "different") return differentKey(outcome.verified.record, comparison);
  if (safetyCodes.state === "different")
    return {
      ...{ tone: "bad", title: "Different key" },
      content: <Explanation failure={safetyCodes.failure} />,
    };
  return verifiedKey(verification, outcome.verified, { comparison, safetyCodes });
}

/** Describes a verified key. Only a proven one is green. */
function verifiedKey(
  { options, duration, source }: Verification,
  { evidence, uniqueness, account }: VerifiedResult,
  { comparison, safetyCodes }: Pick<VerdictInput, "comparison" | "safetyCodes">,
): VerdictContent {
  const { strength, label, restsOn } = sourceNamed(evidence.source);
  const isProven = strength === "proven";
  const hasEqualCodes = safetyCodes.state === "equal";
  const isCompared = comparison.state === "equal" || hasEqualCodes || options.expectedPublicKey !== undefined;
  const isWhole = isProven && uniqueness === "checked";
  const result = isCompared ? "Same key" : isWhole ? "This is the user’s published key" : "Published";
  return {
    tone: isProven ? "good" : "weak",
    title: isProven ? result : `${result}, according to ${strength}`,
    content: (
      <>
        <Meter strength={strength} label={label} canChange={source === "network"} />
        <p>
          {hasEqualCodes && "You and the other app have the same safety code. "}
          {comparison.state === "equal" && `The ${comparison.what} that you entered is the published one. `}
          Your browser checked every step{duration === undefined ? "" : ` in ${Math.round(duration)} ms`}.{" "}
          {account && `This is key ${account.number} of the user’s account, and no newer one is published. `}
          <b>This rests on</b> {restsOn(evidence, options)}
          {uniqueness === "unchecked" && " Only the whole file can show that it contains no second key of the user."}
        </p>
      </>
    ),
  };
}

/** Shows where the entered and the published value first differ. */
function differentKey(record: KeyRecord, { what, text }: Extract<PastedKey, { text: string }>): VerdictContent {
  return {
    ...{ tone: "bad", title: `Different ${what}` },
    content: (
      <>
        <p>
          The {what} that you entered is not the user’s published one. Do not use it. Ask the person for their key id
          over another way, such as a call.
        </p>
        <KeyChips
          keys={[
            ["Published", what === "key" ? record.pubKey : record.keyID],
            ["Yours", text],
          ]}
        />
      </>
    ),
  };
}

/** Describes a file that contains no claim about a key, so there is no key that could be false. */
function notABundle({ code, message }: Failure): VerdictContent {
  return {
    ...{ tone: "open", title: "This file is not a bundle" },
    content: (
      <>
        <p>Nothing was checked. Choose the file that the app or the command made.</p>
        <p class="detail">
          <code class="error-code">{code}</code> {message}
        </p>
      </>
    ),
  };
}

function stepInProgress(verification: Verification): string {
  const states = stepStates(verification);
  const running = STEPS.findIndex((step) => states[step] === "running");
  const step = STEPS[running];
  return step === undefined ? "" : `Step ${running + 1} of ${STEPS.length}: ${TITLES[step]}.`;
}

/** Explains a failure and its remedy. The failed step shows the values. */
function failed(failure: Failure, options: Options, retry: (() => void) | undefined): VerdictContent {
  const { name, code = "", advice, evidence } = failure;
  const isArgument = advice === "developer";
  if (name !== "VerificationError" || isArgument)
    return {
      ...{ tone: "open", title: isArgument ? "Nothing was checked" : "Not verified" },
      content: (
        <>
          <Explanation failure={failure} />
          {!isArgument && retry && <RetryButton retry={retry} />}
        </>
      ),
    };
  if (code === "NOT_PUBLISHED")
    return {
      ...{ tone: "open", title: "No key is published for this user" },
      content: <Absent evidence={evidence} options={options} />,
    };
  return {
    ...{ tone: "bad", title: "Do not use this key" },
    content: areKeys(failure.expected, failure.actual) ? (
      <Explanation failure={failure}>
        <KeyChips
          keys={[
            ["Expected", String(failure.expected)],
            ["Published", String(failure.actual)],
          ]}
        />
      </Explanation>
    ) : (
      <Explanation failure={failure} />
    ),
  };
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
