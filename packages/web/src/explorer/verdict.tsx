import type { Evidence } from "keyroot";
import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "../shared/icon.tsx";
import { hostOf } from "./config.ts";
import { errorTable } from "./errorTable.ts";
import type { Failure, Options } from "./messages.ts";
import type { Verification } from "./useVerification.ts";

/** `neutral` is for what was computed, but proves no key. */
type Tone = "good" | "bad" | "open" | "neutral" | "busy";

const ICONS: Readonly<Record<Tone, IconName | undefined>> = {
  good: "check",
  bad: "cross",
  open: "warning",
  neutral: "check",
  busy: undefined,
};

interface VerdictProps {
  tone: Tone;
  title: string;
  /** Reserves the space of a verification's result, so that nothing moves when it comes. */
  isTall?: boolean;
  children: ComponentChildren;
}

const VERDICT = "verdict";

/** Shows the verdict, for visitors who started a verification further down. */
export function goToVerdict(): void {
  const verdict = document.getElementById(VERDICT);
  verdict?.focus({ preventScroll: true });
  verdict?.scrollIntoView({ block: "center" });
}

/** The result in one sentence, and what it is worth. */
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

/** The verdict of a verification. */
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
        <p>The page could not do its work: {defect} Nothing was verified or refuted.</p>
        {retry && <RetryButton retry={retry} />}
      </Verdict>
    );
  }
  if (outcome === undefined) {
    return (
      <Verdict tone="busy" title="Verifying …" isTall>
        <p>Your browser checks every step itself.</p>
      </Verdict>
    );
  }
  if ("failure" in outcome) return <FailureVerdict failure={outcome.failure} options={options} retry={retry} />;
  const { evidence, record, uniqueness } = outcome.verified;
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
        <b>What this is worth:</b> {worthOf(evidence, options)}
        {uniqueness === "unchecked" && " Only the whole file could show that the user has no second key in it."}
      </p>
      <p>
        <b>Key id:</b> <code>{record.keyID}</code>
      </p>
    </Verdict>
  );
}

/** What a verified root is worth, without overstating it (docs/threat-model.md). */
function worthOf({ anchor, storageProof, agreeing = 0 }: Evidence, { rpc }: Pick<Options, "rpc">): ComponentChildren {
  const proof = storageProof ? ", with a storage proof under it" : "";
  switch (anchor) {
    case "quorum":
      return `${agreeing} endpoints agree on the block${storageProof ? proof : " and on the root"}. It is wrong only if they lie together.`;
    case "pinned":
      return storageProof ? (
        <>
          a <dfn>proof</dfn> under the block hash that you entered: hashes that lead from it to the contract’s data. It
          is as good as your source of that hash.
        </>
      ) : (
        `the word of ${hostOf(String(rpc))} about the block whose hash you entered. Require a proof below to not rely on that word.`
      );
    case "light-client":
      return `the word of a light client${proof}.`;
    case "endpoint":
      return storageProof ? (
        `the word of one endpoint, ${hostOf(String(rpc))}. It chose the block itself, so the storage proof adds little.`
      ) : (
        <>
          the word of one endpoint, {hostOf(String(rpc))}, that the contract holds this root. Choose stronger{" "}
          <dfn>evidence</dfn>, what this answer rests on, below.
        </>
      );
  }
}

interface FailureVerdictProps {
  failure: Failure;
  options: Options;
  retry: (() => void) | undefined;
}

/** What failed, what that means, and what to do. The failed step has the values. */
function FailureVerdict({ failure, options, retry }: FailureVerdictProps) {
  const { name, code = "", evidence } = failure;
  const meaning = (
    <p>
      <code class="error-code">{code}</code> {errorTable[code]?.meaning}
    </p>
  );
  if (name !== "VerificationError") {
    const isArgument = name === "ArgumentError";
    return (
      <Verdict tone="open" title={isArgument ? "Nothing was checked" : "Not verified"} isTall>
        {meaning}
        <Remedy code={code} />
        {!isArgument && retry && <RetryButton retry={retry} />}
      </Verdict>
    );
  }
  const isAbsent = code === "NOT_PUBLISHED";
  return (
    <Verdict tone="bad" title={isAbsent ? "No key is published for this user" : "Do not use this key"} isTall>
      {meaning}
      {isAbsent && evidence ? (
        <p>
          <b>What this is worth:</b> {worthOf(evidence, options)}
        </p>
      ) : (
        <Remedy code={code} />
      )}
    </Verdict>
  );
}

function Remedy({ code }: { code: string }) {
  const remedy = errorTable[code]?.remedy;
  return remedy === undefined ? null : (
    <p>
      <b>What to do:</b> {remedy}
    </p>
  );
}

/** An error in the words of docs/errors.md, and its message. */
export function Explanation({ failure: { code = "", message } }: { failure: Pick<Failure, "code" | "message"> }) {
  return (
    <>
      <p>
        <code class="error-code">{code}</code> {errorTable[code]?.meaning}
      </p>
      <Remedy code={code} />
      <p class="detail">{message}</p>
    </>
  );
}

export function RetryButton({ retry }: { retry: () => void }) {
  return (
    <button type="button" class="button" onClick={retry}>
      Try again
    </button>
  );
}
