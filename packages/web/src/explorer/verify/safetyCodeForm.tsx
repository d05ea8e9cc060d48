import type { KeyRecord } from "keyroot";
import { useEffect, useState } from "preact/hooks";
import { TextField } from "../../shared/form.tsx";
import { Icon } from "../../shared/icon.tsx";
import { readUserID } from "../../shared/readUserID.ts";
import { Explanation } from "../shared/explanation.tsx";
import { callWorker } from "../shared/callWorker.ts";
import type { Failure, WorkerCalls } from "../worker/messages.ts";
import { config } from "../shared/config.ts";
import { hexLength, toBase64Key } from "./pastedKey.ts";

/** A result with the result's input. If the input changes, the result is hidden. */
interface Computed {
  of: string;
  result: WorkerCalls["safetyCode"]["result"] | { defect: string };
}

interface SafetyCodeFormProps {
  record: KeyRecord;
  /** Receives the error if the other app shows a different safety code, and undefined afterwards. */
  onFailure: (failure: Failure | undefined) => void;
}

/**
 * Computes the safety code of the visitor and the verified user. Compares the safety code with the code in the other
 * app.
 */
export function SafetyCodeForm({ record, onFailure }: SafetyCodeFormProps) {
  const [id, setID] = useState("");
  const [key, setKey] = useState("");
  const [shown, setShown] = useState("");
  const [computed, setComputed] = useState<Computed>();
  const user = readUserID(id);
  const publicKey = toBase64Key(key, record.pubKey);
  const userID = "userID" in user ? user.userID : undefined;
  const input =
    userID === undefined || publicKey === undefined ? undefined : JSON.stringify([userID, publicKey, shown]);
  const result = input !== undefined && computed?.of === input ? computed.result : undefined;

  useEffect(() => {
    if (input === undefined || userID === undefined || publicKey === undefined) return;
    let isCurrent = true;
    const contact = { userID: record.userID, publicKey: record.pubKey };
    const compute = async () => {
      const result = await callWorker("safetyCode", "safetyCode", {
        mine: { userID, publicKey },
        contact,
        shown,
        keyType: config.keyType,
      }).catch((error: unknown) => ({ defect: `This page has a defect: ${String(error)}` }));
      if (isCurrent) setComputed({ of: input, result });
    };
    void compute();
    return () => {
      isCurrent = false;
    };
  }, [input, record.userID, record.pubKey]);

  const failure = result && "failure" in result ? result.failure : undefined;
  const isMismatch = failure?.code === "SAFETY_CODE_MISMATCH";
  useEffect(() => {
    onFailure(isMismatch ? failure : undefined);
  }, [isMismatch]);
  return (
    <>
      <p>
        You and this user see the same <dfn>safety code</dfn> of 60 digits if both of you use the right two keys. Read
        it to each other in person or in a call. Your input is never sent.
      </p>
      <TextField
        label="Your own user id"
        error={id.trim() === "" || "userID" in user ? undefined : user.error}
        value={id}
        onInput={setID}
      />
      <TextField
        label="Your own public key"
        hint="From your own device, in base64 or hex."
        error={
          key.trim() === "" || publicKey !== undefined
            ? undefined
            : `A key has ${record.pubKey.length} characters of base64 or ${hexLength(record.pubKey)} hex digits.`
        }
        rows={2}
        value={key}
        onInput={setKey}
      />
      <TextField
        label="What the other app shows (optional)"
        hint="Its 60 digits, or the text of its QR code."
        error={failure?.code === "SAFETY_CODE_INVALID" ? "This is not a safety code." : undefined}
        rows={2}
        value={shown}
        onInput={setShown}
      />
      <div role="status" class="safety-code">
        {result && "digits" in result && (
          <p>
            <code>{result.digits.match(/\d{5}/g)?.join(" ")}</code>
          </p>
        )}
        {result && "digits" in result && failure === undefined && shown.trim() !== "" && (
          <p class="comparison-result comparison-result-equal">
            <Icon name="check" /> The safety codes are equal: both of you use the right keys.
          </p>
        )}
        {isMismatch && (
          <p class="comparison-result comparison-result-different">
            <Icon name="cross" /> The safety codes are different. Do not use this key.
          </p>
        )}
        {failure && !isMismatch && <Explanation failure={failure} />}
        {result && "defect" in result && <p class="error">{result.defect}</p>}
      </div>
    </>
  );
}
