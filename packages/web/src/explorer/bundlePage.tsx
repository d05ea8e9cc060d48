import { LOWERCASE_HASH } from "keyroot/ethereum";
import { useEffect, useState } from "preact/hooks";
import { Field } from "../shared/field.tsx";
import { Form } from "../shared/form.tsx";
import { TextField } from "../shared/textField.tsx";
import { formatBytes, shorten } from "../shared/text.ts";
import { defaultChoice, optionsFor } from "./evidenceChoice.ts";
import type { WorkerCalls } from "./messages.ts";
import { goToVerdict } from "./verdict.tsx";
import { startWorker, callWorker } from "./workers.ts";
import { VerificationView } from "./verificationView.tsx";

/** Larger than any bundle: nothing else is read. */
const MAX_BYTES = 2 ** 16;

type Outcome = WorkerCalls["verifyBundle"]["result"];

interface BundlePageProps {
  /** A file that was dropped somewhere on the page. */
  dropped: File | undefined;
}

/** The verification of a bundle, without any request. */
export function BundlePage({ dropped }: BundlePageProps) {
  const [file, setFile] = useState<{ name: string; bytes: Uint8Array }>();
  const [fileError, setFileError] = useState<string>();
  const [hash, setHash] = useState("");
  const [hashError, setHashError] = useState<string>();
  const [outcome, setOutcome] = useState<{ hash: string | undefined; result: Outcome }>();
  const options = { ...optionsFor(defaultChoice()), storageProof: true };

  const verify = async (bytes: Uint8Array, blockHash: string | undefined) => {
    const { chainId, contract, codeHash, usersSlot } = options;
    const query = { chainId, contract, codeHash, usersSlot };
    try {
      const result = await callWorker("evidence", "verifyBundle", { bytes, query, blockHash });
      setOutcome({ hash: blockHash, result });
    } catch (error) {
      setFileError(`The page could not do its work: ${String(error)}`);
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
    const blockHash = hash.trim().toLowerCase();
    if (file === undefined) setFileError("Choose a bundle first.");
    else if (!LOWERCASE_HASH.test(blockHash)) setHashError("A block hash is 0x and 64 hex digits.");
    else void verify(file.bytes, blockHash);
  };

  useEffect(() => {
    // From now on, no network is needed.
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
        A <dfn>bundle</dfn> is a file that proves a user’s key as of one block. It is verified in this page: nothing is
        sent, and no server is asked. You can even go offline now.
      </p>
      <p class="terms">
        A <dfn>blockchain</dfn> is a public record that many computers keep, written in <dfn>blocks</dfn>. A block’s{" "}
        <dfn>hash</dfn>, a short fingerprint, stands for everything in it.
      </p>
      <Form class="card" onSubmit={submit}>
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
              <b>{file.name}</b> says that it is about the user <code>{shorten(result.userID, 10, 6)}</code>
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
          error={hashError}
          placeholder="0x…"
          value={hash}
          onInput={(entered) => {
            setHash(entered);
            setHashError(undefined);
          }}
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
            options: { ...options, blockHash: outcome.hash },
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
