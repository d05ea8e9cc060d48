import type { Evidence } from "keyroot";
import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "../shared/icon.tsx";
import { hostOf } from "./config.ts";
import { errorTable } from "./errorTable.ts";
import type { Failure, Options } from "./messages.ts";
import type { Verification } from "./useVerification.ts";

type Tone = "good" | "bad" | "open" | "busy";

const ICONS: Readonly<Record<Tone, IconName | undefined>> = {
  good: "check",
  bad: "cross",
  open: "warning",
  busy: undefined,
};

interface VerdictProps {
  tone: Tone;
  title: string;
  children: ComponentChildren;
}

/** The result in one sentence, and what it is worth. */
export function Verdict({ tone, title, children }: VerdictProps) {
  const icon = ICONS[tone];
  return (
    <section class={`verdict verdict-${tone}`} data-verdict={tone} aria-live="polite" aria-atomic="true">
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
      <Verdict tone="open" title="Not verified">
        <p>The page could not do its work: {defect} Nothing was verified or refuted.</p>
        {retry && <RetryButton retry={retry} />}
      </Verdict>
    );
  }
  if (outcome === undefined) {
    return (
      <Verdict tone="busy" title="Verifying …">
        <p>Your browser checks every step itself.</p>
      </Verdict>
    );
  }
  if ("failure" in outcome) return <FailureVerdict failure={outcome.failure} options={options} retry={retry} />;
  const { evidence } = outcome.verified;
  const compared =
    options.expectedPublicKey === undefined
      ? "This is the user’s published key"
      : "The server’s key is the published key";
  return (
    <Verdict tone="good" title={compared}>
      <p>
        Your browser checked every step{duration === undefined ? "" : ` in ${Math.round(duration)} ms`}.{" "}
        <b>What this is worth:</b> {worthOf(evidence, options)}
      </p>
    </Verdict>
  );
}

/** What a verified root is worth, without overstating it (docs/threat-model.md). */
function worthOf({ anchor, storageProof, agreeing = 0 }: Evidence, { rpc }: Pick<Options, "rpc">): string {
  const proof = storageProof ? ", with a storage proof under it" : "";
  switch (anchor) {
    case "quorum":
      return `${agreeing} endpoints agree on the block${storageProof ? proof : " and on the root"}. It is wrong only if they lie together.`;
    case "pinned":
      return storageProof
        ? "a proof under the block hash that you entered. It is as good as your source of that hash."
        : `the word of ${hostOf(String(rpc))} about the block whose hash you entered. Add a storage proof to not rely on that word.`;
    case "light-client":
      return `the word of a light client${proof}.`;
    case "endpoint":
      return storageProof
        ? `the word of one endpoint, ${hostOf(String(rpc))}. It chose the block itself, so the storage proof adds little.`
        : `the word of one endpoint, ${hostOf(String(rpc))}, that the contract holds this root. Choose stronger evidence below.`;
  }
}

function FailureVerdict({
  failure,
  options,
  retry,
}: {
  failure: Failure;
  options: Options;
  retry: (() => void) | undefined;
}) {
  const { name, code = "" } = failure;
  if (name !== "VerificationError") {
    const isArgument = name === "ArgumentError";
    return (
      <Verdict tone="open" title={isArgument ? "Nothing was checked" : "Not verified"}>
        <Explanation failure={failure} />
        {!isArgument && retry && <RetryButton retry={retry} />}
      </Verdict>
    );
  }
  const isAbsent = code === "NOT_PUBLISHED";
  const { evidence } = failure;
  return (
    <Verdict tone="bad" title={isAbsent ? "No key is published for this user" : "Do not use this key"}>
      <Explanation failure={failure} />
      {isAbsent && evidence && (
        <p>
          <b>What this is worth:</b> {worthOf(evidence, options)}
        </p>
      )}
    </Verdict>
  );
}

/** An error in the words of docs/errors.md. */
export function Explanation({ failure: { code = "", message } }: { failure: Pick<Failure, "code" | "message"> }) {
  const entry = errorTable[code];
  return (
    <>
      <p>
        <code class="error-code">{code}</code> {entry?.meaning}
      </p>
      {entry && (
        <p>
          <b>What to do:</b> {entry.remedy}
        </p>
      )}
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
