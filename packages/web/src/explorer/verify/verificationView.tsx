import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Command, ShortValue, Value } from "../../shared/copyable.tsx";
import { Fact, Facts } from "../../shared/facts.tsx";
import { TextField } from "../../shared/form.tsx";
import { formatCount, plural } from "../../shared/format.ts";
import { Icon } from "../../shared/icon.tsx";
import { Term } from "../../shared/term.tsx";
import { EVIDENCE } from "../shared/verdict.tsx";
import type { VerifiedResult } from "../worker/messages.ts";
import { AccountHistory } from "./accountHistory.tsx";
import { TakeAlong } from "./downloads.tsx";
import { drawingProps } from "./drawingStates.ts";
import { Later } from "./later.tsx";
import { comparePasted, type PastedKey } from "./pastedKey.ts";
import { PathDrawing } from "./pathDrawing.tsx";
import { NOT_COMPARED, SafetyCodeForm } from "./safetyCodeForm.tsx";
import { StepList } from "./stepList.tsx";
import { stepStates, type Verification } from "./useVerification.ts";
import { PrintReceipt } from "./receipt.tsx";
import { verdictOf, VerificationVerdict } from "./verificationVerdict.tsx";
import { bundleCommand, verifyCommand } from "./verifyCommand.ts";

interface VerificationViewProps {
  verification: Verification;
  /** A key that the visitor entered before, to compare with the published one. */
  entered?: string;
  /** Repeats a verification. Undefined if the verification sent no requests. */
  retry?: () => void;
  children?: ComponentChildren;
}

/** Shows a verification: verdict, key and evidence, then the steps beside the drawing. Other actions open on demand. */
export function VerificationView({ verification, entered = "", retry, children }: VerificationViewProps) {
  const [pasted, setPasted] = useState(entered);
  const [safetyCodes, setSafetyCodes] = useState(NOT_COMPARED);
  const { outcome, defect, options, userID, source } = verification;
  const verified = outcome && "verified" in outcome ? outcome.verified : undefined;
  const comparison: PastedKey = verified ? comparePasted(pasted, verified.record) : { state: "empty" };
  const states = stepStates(verification);
  if (comparison.state === "different" || safetyCodes.state === "different") states.key = "failed";
  const content = verdictOf({ verification, comparison, safetyCodes, retry });
  useMeasure(verification);
  const isOver = outcome !== undefined || defect !== undefined;
  return (
    <>
      <div class={isOver ? "verification" : "verification verification-busy"}>
        <VerificationVerdict {...content} />
        {verified && (
          <KeyCard verified={verified}>
            <CompareKey pasted={pasted} setPasted={setPasted} comparison={comparison} />
          </KeyCard>
        )}
        <EvidenceCard verification={verification}>{children}</EvidenceCard>
      </div>
      {verified?.account && (
        <AccountHistory history={verified.account} keyID={verified.record.keyID} options={options} />
      )}
      {verified && (
        <More title="Compare the safety code with this user">
          <SafetyCodeForm userID={userID} verified={verified} onCompared={setSafetyCodes} />
        </More>
      )}
      {isOver && (
        <div class="columns">
          <div class="column">
            <section aria-labelledby="steps-title">
              <h2 id="steps-title">Step by step</h2>
              <StepList states={states} verification={verification} />
            </section>
            <Later>
              {verified && source === "network" && (
                <More title="Download the proof">
                  <TakeAlong verification={verification} verified={verified} />
                </More>
              )}
              <More title="Verify without this page">
                <p>
                  This page’s code comes from the server in your address bar. To avoid relying on it, run the same
                  verification on your own machine:
                </p>
                <Command
                  command={
                    source === "network" ? verifyCommand(userID, options) : bundleCommand(source.bundle, options)
                  }
                />
              </More>
            </Later>
          </div>
          <section aria-labelledby="drawing-title" class="card drawing-card">
            <h2 id="drawing-title">From the key to the root</h2>
            <PathDrawing {...drawingProps(verification, states, comparison)} />
          </section>
        </div>
      )}
      {isOver && <PrintReceipt title={content.title} verification={verification} />}
    </>
  );
}

/** An additional action that opens on demand. */
function More({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <details class="card more">
      <summary>
        <h2>{title}</h2>
      </summary>
      <div class="more-content">{children}</div>
    </details>
  );
}

/** Shows the evidence of the verification and the form for choosing other evidence. Explains the terms. */
function EvidenceCard({ verification, children }: { verification: Verification; children: ComponentChildren }) {
  return (
    <section id={EVIDENCE} class="card evidence-card" aria-labelledby="evidence-title">
      <h2 id="evidence-title">
        <Term of="evidence">Evidence</Term>
      </h2>
      <p class="detail">
        {verification.source === "network" ? (
          <>
            Your browser asks <Term of="endpoint">endpoints</Term> for the <Term of="contract" />
            ’s <Term of="root" /> at a <Term of="block" />. With auditors, the light client or a trusted block, a{" "}
            <Term of="storage proof" /> shows that the block has this root.
          </>
        ) : (
          <>
            The bundle has a <Term of="storage proof" />: the <Term of="contract" /> has this <Term of="root" /> under
            the block hash that you entered. No <Term of="endpoint" /> was asked.
          </>
        )}
      </p>
      {children}
    </section>
  );
}

/** Measures the time from the file's last byte to the visible drawing, for bench/explorer.ts. */
function useMeasure({ outcome, progress }: Verification): void {
  const measured = useRef<unknown>(undefined);
  useEffect(() => {
    const received = progress.find((event) => event.kind === "received");
    if (outcome === undefined || received === undefined || measured.current === outcome) return;
    measured.current = outcome;
    requestAnimationFrame(() => {
      performance.measure("keyroot: drawn", {
        start: Math.max(0, received.at - performance.timeOrigin),
        end: performance.now(),
      });
    });
  }, [outcome, progress]);
}

/** Shows the published key below the comparison with the key that the visitor has. */
function KeyCard({ verified, children }: { verified: VerifiedResult; children: ComponentChildren }) {
  const { record, root, path, blockNumber } = verified;
  return (
    <section class="card key-card" aria-labelledby="key-title">
      <h2 id="key-title">The published key</h2>
      {children}
      <Facts>
        <Fact name={<Term of="key id">Key id</Term>}>
          <Value value={record.keyID} name="the key id" />
        </Fact>
        <Fact name={<Term of="public key">Public key</Term>} isWide>
          <Value value={record.pubKey} name="the public key" />
        </Fact>
        <Fact name="Root" isWide>
          <ShortValue
            value={root}
            name="the root"
            href={path.leafCount === undefined ? undefined : `#/batch/${root}/${record.userID}`}
          />{" "}
          {path.leafCount !== undefined && <>of a file with {plural(path.leafCount, "key")}</>}
          {blockNumber !== undefined && `, block ${formatCount(blockNumber)} (one endpoint)`}
        </Fact>
      </Facts>
    </section>
  );
}

interface CompareKeyProps {
  pasted: string;
  setPasted: (text: string) => void;
  comparison: PastedKey;
}

function CompareKey({ pasted, setPasted, comparison }: CompareKeyProps) {
  return (
    <>
      <TextField
        label="Compare with the key or key id that you have (never sent)"
        error={comparison.state === "invalid" ? comparison.error : undefined}
        value={pasted}
        onInput={setPasted}
      />
      <p role="status" class={`comparison-result comparison-result-${comparison.state}`}>
        {comparison.state === "equal" && (
          <>
            <Icon name="check" /> Same {comparison.what}
          </>
        )}
        {comparison.state === "different" && (
          <>
            <Icon name="cross" /> Different {comparison.what}. Do not use it.
          </>
        )}
      </p>
    </>
  );
}
