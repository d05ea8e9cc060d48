import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Command, Value } from "../shared/code.tsx";
import { downloadJson } from "../shared/download.ts";
import { Icon } from "../shared/icon.tsx";
import { TextField } from "../shared/textField.tsx";
import { formatCount } from "../shared/text.ts";
import { bundleCommand, verifyCommand } from "./commandLine.ts";
import { comparePasted, type PastedKey } from "./comparison.ts";
import { drawingProps } from "./drawingProps.ts";
import { Later } from "./later.tsx";
import type { VerifiedResult } from "./messages.ts";
import { PathDrawing } from "./pathDrawing.tsx";
import { SafetyCodeCard } from "./safetyCodeCard.tsx";
import { StepList } from "./stepList.tsx";
import { stepStates, type Verification } from "./useVerification.ts";
import { Explanation, VerificationVerdict, Verdict } from "./verdict.tsx";
import { Terms } from "./terms.tsx";
import { callWorker } from "./workers.ts";

interface VerificationViewProps {
  verification: Verification;
  /** Repeats a verification that asked servers. */
  retry?: () => void;
  /** The choice of the evidence, below the drawing. */
  children?: ComponentChildren;
}

/** A verification: the verdict, the steps, the drawing, and what the visitor can do next. */
export function VerificationView({ verification, retry, children }: VerificationViewProps) {
  const [pasted, setPasted] = useState("");
  const { outcome, options, userID, source } = verification;
  const verified = outcome && "verified" in outcome ? outcome.verified : undefined;
  const comparison: PastedKey = verified ? comparePasted(pasted, verified.record) : { state: "empty" };
  const states = stepStates(verification);
  if (comparison.state === "different") states.key = "failed";
  useMeasure(verification);
  return (
    <>
      <Terms />
      {comparison.state === "different" ? (
        <Verdict tone="bad" title={`The pasted ${comparison.what} is not the published one`} isTall>
          <Explanation
            failure={{ code: "KEY_MISMATCH", message: "The published key itself is verified; see below." }}
          />
        </Verdict>
      ) : (
        <VerificationVerdict verification={verification} retry={retry} />
      )}
      <div class="columns">
        <section aria-labelledby="steps-title">
          <h2 id="steps-title">Step by step</h2>
          <StepList states={states} verification={verification} />
        </section>
        <section aria-labelledby="drawing-title" class="card drawing-card">
          <h2 id="drawing-title">From the key to the root</h2>
          <PathDrawing {...drawingProps(verification, states, comparison)} />
        </section>
      </div>
      {verified && (
        <Later>
          <div class={source === "network" ? "columns columns-even" : "columns"}>
            <KeyCard verified={verified}>
              <CompareKey pasted={pasted} setPasted={setPasted} comparison={comparison} />
            </KeyCard>
            {source === "network" && <TakeAlong verification={verification} verified={verified} />}
          </div>
          <SafetyCodeCard record={verified.record} />
        </Later>
      )}
      <Later>
        {children}
        <section class="card" aria-labelledby="command-title">
          <h2 id="command-title">Without this page</h2>
          <p>
            This page’s code comes from the server in your address bar. If you do not want to trust it, run the same
            verification on your own machine:
          </p>
          <Command
            command={source === "network" ? verifyCommand(userID, options) : bundleCommand(source.bundle, options)}
          />
        </section>
      </Later>
    </>
  );
}

/** Measures the time from the file's last byte to the drawing on the screen, for bench/explorer.ts. */
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

function KeyCard({ verified, children }: { verified: VerifiedResult; children: ComponentChildren }) {
  const { record, root, path, blockNumber } = verified;
  return (
    <section class="card" aria-labelledby="key-title">
      <h2 id="key-title">The published key</h2>
      <dl class="facts">
        <dt>Key id</dt>
        <dd>
          <Value value={record.keyID} name="the key id" />
        </dd>
        <dt>Public key</dt>
        <dd>
          <Value value={record.pubKey} name="the public key" />
        </dd>
        <dt>Root</dt>
        <dd>
          <Value value={root} name="the root" />
        </dd>
        {blockNumber !== undefined && (
          <>
            <dt>Added in block</dt>
            <dd>{formatCount(blockNumber)}, according to the endpoint</dd>
          </>
        )}
      </dl>
      {path.leafCount !== undefined && (
        <p>
          <a href={`#/batch/${root}/${record.userID}`}>
            See all {formatCount(path.leafCount)} keys of this file as a tree
          </a>
        </p>
      )}
      {children}
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
        label="Compare with a key that you have"
        hint="A key or key id, in base64 or hex. It stays in this page: it is not sent, and no link contains it."
        error={comparison.state === "invalid" ? comparison.error : undefined}
        rows={2}
        value={pasted}
        onInput={setPasted}
      />
      <p role="status" class={`comparison-result comparison-result-${comparison.state}`}>
        {comparison.state === "equal" && (
          <>
            <Icon name="check" /> The pasted {comparison.what} is the published one.
          </>
        )}
        {comparison.state === "different" && (
          <>
            <Icon name="cross" /> The pasted {comparison.what} is not the published one. Do not use it.
          </>
        )}
      </p>
    </>
  );
}

/** Downloads of the proof and the bundle. */
function TakeAlong({ verification, verified }: { verification: Verification; verified: VerifiedResult }) {
  const [state, setState] = useState<"idle" | "busy" | { code: string | undefined; message: string }>("idle");
  const { userID, options } = verification;
  const downloadBundle = async () => {
    setState("busy");
    try {
      const result = await callWorker("evidence", "makeBundle", { userID, options });
      if ("failure" in result) {
        setState({ code: result.failure.code, message: result.failure.message });
        return;
      }
      downloadJson(`${userID}.bundle.json`, result.bundle);
      setState("idle");
    } catch (error) {
      setState({ code: undefined, message: String(error) });
    }
  };
  return (
    <section class="card" aria-labelledby="take-title">
      <h2 id="take-title">Take it along</h2>
      <p>
        A <dfn>proof</dfn> is the path above as a file: it shows that the record is under the root. A <dfn>bundle</dfn>{" "}
        also contains a proof that the contract has this root at one block. Anyone who knows that block’s hash can
        verify it <a href="#/bundle">offline</a>.
      </p>
      <div class="buttons">
        <button
          type="button"
          class="button"
          onClick={() => {
            downloadJson(`${userID}.json`, verified.proof);
          }}
        >
          <Icon name="download" /> Download proof
        </button>
        <button type="button" class="button" disabled={state === "busy"} onClick={() => void downloadBundle()}>
          <Icon name="download" /> {state === "busy" ? "Making the bundle …" : "Download bundle"}
        </button>
      </div>
      <div role="alert">
        {typeof state === "object" && <Explanation failure={{ code: state.code, message: state.message }} />}
      </div>
    </section>
  );
}
