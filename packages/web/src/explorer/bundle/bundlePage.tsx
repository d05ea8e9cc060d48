import { LOWERCASE_HASH } from "keyroot/internal/ethereum";
import { useEffect, useState } from "preact/hooks";
import { Field, Form, TextField, useText } from "../../shared/form.tsx";
import { formatBytes, shorten } from "../../shared/format.ts";
import { Term } from "../../shared/term.tsx";
import { goToVerdict } from "../shared/verdict.tsx";
import { defaultChoice, optionsFor } from "../verify/evidenceChoice.ts";
import { VerificationView } from "../verify/verificationView.tsx";
import { callWorker, startWorker } from "../shared/callWorker.ts";
import type { WorkerCalls } from "../worker/messages.ts";

/** Maximum size of a bundle in bytes. Larger files are not read. */
const MAX_BYTES = 2 ** 16;

type Outcome = WorkerCalls["verifyBundle"]["result"];

interface BundlePageProps {
  /** A bundle that the visitor dropped on any page of the explorer. */
  dropped: File | undefined;
}

/** Verifies a bundle without sending any request. */
export function BundlePage({ dropped }: BundlePageProps) {
  const [file, setFile] = useState<{ name: string; bytes: Uint8Array }>();
  const [fileError, setFileError] = useState<string>();
  const hash = useText();
  const [outcome, setOutcome] = useState<{ hash: string | undefined; result: Outcome }>();
  const options = optionsFor({ ...defaultChoice(), source: "one-endpoint" });

  const verify = async (bytes: Uint8Array, pinned: string | undefined) => {
    const { chainId, contract, codeHash, keyType, accounts } = options;
    const query = { chainId, contract, codeHash, keyType, accounts };
    try {
      const result = await callWorker("evidence", "verifyBundle", { bytes, query, pinned });
      setOutcome({ hash: pinned, result });
    } catch (error) {
      setFileError(`This page has a defect: ${String(error)}`);
    }
  };
  const open = async (chosen: File | undefined) => {
    if (chosen === undefined) return;
    setOutcome(undefined);
    setFile(undefined);
    setFileError(undefined);
    if (chosen.size > MAX_BYTES) {
      setFileError(`A bundle has at most ${formatBytes(MAX_BYTES)}, but this file has ${formatBytes(chosen.size)}.`);
      return;
    }
    const bytes = new Uint8Array(await chosen.arrayBuffer());
    setFile({ name: chosen.name, bytes });
    await verify(bytes, undefined);
  };
  const submit = () => {
    const pinned = hash.text.trim().toLowerCase();
    if (file === undefined) setFileError("Choose a bundle first.");
    else if (!LOWERCASE_HASH.test(pinned)) hash.setError("A block hash is 0x and 64 hex digits.");
    else void verify(file.bytes, pinned);
  };

  useEffect(() => {
    // Load the worker now, so that the page works offline later.
    startWorker("evidence").catch(() => undefined);
  }, []);
  useEffect(() => void open(dropped), [dropped]);
  useEffect(() => {
    if (outcome?.hash !== undefined) goToVerdict();
  }, [outcome]);

  const result = outcome?.result;
  const isUnanchored = result !== undefined && "failure" in result && result.failure.code === "UNANCHORED";
  return (
    <>
      <h1>Verify a bundle</h1>
      <p class="lead">
        A <Term of="bundle" /> proves a user’s key at one <Term of="block" />, which it names by its <Term of="hash" />.
        This page verifies it without sending anything. You can go offline now.
      </p>
      <Form class="card bundle-form" onSubmit={submit}>
        <Field label="Bundle" hint="Choose a file, or drop it anywhere on this page." error={fileError}>
          {(attributes) => (
            <input
              {...attributes}
              type="file"
              accept=".json,application/json"
              onChange={({ currentTarget }) => void open(currentTarget.files?.[0])}
            />
          )}
        </Field>
        <p role="status" class="bundle-claim">
          {file && result?.userID !== undefined && (
            <>
              <b>{file.name}</b> contains a claim about the user <code>{shorten(result.userID, 10, 6)}</code>
              {isUnanchored && typeof result.failure.actual === "string" && (
                <>
                  {" "}
                  and the block <code>{shorten(result.failure.actual, 10, 6)}</code>. Enter the hash of that block, from
                  a source that the bundle’s sender does not control
                </>
              )}
              .
            </>
          )}
        </p>
        <TextField
          label="Hash of the block"
          hint="From your own node, a block explorer, or someone you trust. Not from the sender of the bundle."
          placeholder="0x…"
          {...hash.field}
        />
        <button type="submit" class="button button-primary">
          Verify bundle
        </button>
      </Form>
      {file && outcome && result && !isUnanchored && (
        <VerificationView
          verification={{
            source: { bundle: file.name },
            userID: result.userID ?? "",
            options: { ...options, trust: { name: "pinned-block", hash: outcome.hash ?? "0x…" } },
            progress: [],
            outcome: result,
            defect: undefined,
            duration: undefined,
          }}
        />
      )}
    </>
  );
}
