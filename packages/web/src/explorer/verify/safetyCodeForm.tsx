import { useEffect, useState } from "preact/hooks";
import { TextField } from "../../shared/form.tsx";
import { Icon } from "../../shared/icon.tsx";
import { bytesIn, toBase64 } from "../../shared/keyText.ts";
import { readUserID } from "../../shared/readUserID.ts";
import { Explanation } from "../shared/explanation.tsx";
import { callWorker } from "../shared/callWorker.ts";
import { goToVerdict } from "../shared/verdict.tsx";
import type { Failure, VerifiedResult, WorkerCalls } from "../worker/messages.ts";
import { config } from "../shared/config.ts";
import { QrCode } from "./qrCode.tsx";
import { QrReader } from "./qrReader.tsx";

/** The comparison of two safety codes. */
export type ComparedCodes = { state: "none" } | { state: "equal" } | { state: "different"; failure: Failure };
export const NOT_COMPARED: ComparedCodes = { state: "none" };

/** A result with the result's input. If the input changes, the result is hidden. */
interface Computed {
  of: string;
  result: WorkerCalls["safetyCode"]["result"] | { defect: string };
}

interface SafetyCodeFormProps {
  userID: string;
  verified: VerifiedResult;
  onCompared: (compared: ComparedCodes) => void;
}

/**
 * Shows the safety code of the visitor and the verified user as digits and as a QR code. The visitor can compare it
 * with the code in the other app.
 */
export function SafetyCodeForm({ userID: contactID, verified, onCompared }: SafetyCodeFormProps) {
  const { record, account } = verified;
  const [id, setID] = useState("");
  const [key, setKey] = useState("");
  const [shown, setShown] = useState("");
  const [isScanned, setScanned] = useState(false);
  const [computed, setComputed] = useState<Computed>();
  const user = readUserID(id);
  const userID = "userID" in user ? user.userID : undefined;
  const own = account ? readAccount(key) : toBase64(key, bytesIn(record.pubKey));
  const isOwnValid = own !== undefined;
  const ownField = { rows: 2, value: key, onInput: setKey };
  const input = userID === undefined || !isOwnValid ? undefined : JSON.stringify([userID, own, shown]);
  const result = input !== undefined && computed?.of === input ? computed.result : undefined;

  useEffect(() => {
    if (input === undefined || userID === undefined || !isOwnValid) return;
    let isCurrent = true;
    const compute = async () => {
      const result = await callWorker("safetyCode", "safetyCode", {
        ...(account
          ? { mine: { userID, account: own }, contact: { userID: contactID, account: account.file } }
          : { mine: { userID, publicKey: own }, contact: { userID: contactID, publicKey: record.pubKey } }),
        shown,
        keyType: config.keyType,
      }).catch((error: unknown) => ({ defect: `This page has a defect: ${String(error)}` }));
      if (isCurrent) setComputed({ of: input, result });
    };
    void compute();
    return () => {
      isCurrent = false;
    };
  }, [input, contactID, record.pubKey]);

  const failure = result && "failure" in result ? result.failure : undefined;
  const code = result && "digits" in result ? result : undefined;
  const isMismatch = failure?.code === "SAFETY_CODE_MISMATCH";
  const state = isMismatch ? "different" : code && failure === undefined && shown.trim() !== "" ? "equal" : "none";
  useEffect(() => {
    onCompared(isMismatch ? { state: "different", failure } : { state: state === "equal" ? "equal" : "none" });
    // Move the focus only after a scan, because a person who types needs it in the field.
    if (isScanned && state !== "none") goToVerdict();
  }, [state]);
  return (
    <>
      <p>
        You and this user see the same <dfn>safety code</dfn> of 60 digits if both of you use the right two keys. Read
        it to each other in person or in a call, or scan it. Your input is never sent.
      </p>
      <div class="safety-code">
        <div class="safety-own">
          <TextField
            label="Your own user id"
            error={id.trim() === "" || "userID" in user ? undefined : user.error}
            value={id}
            onInput={setID}
          />
          {account ? (
            <TextField
              label="Your own account"
              hint="The text of your account, or your account file."
              error={key.trim() === "" || isOwnValid ? undefined : "An account begins with keyroot/account-v1."}
              {...ownField}
            />
          ) : (
            <TextField
              label="Your own public key"
              hint="From your own device, in base64 or hex."
              error={
                key.trim() === "" || isOwnValid
                  ? undefined
                  : `A key has ${record.pubKey.length} characters of base64 or ${2 * bytesIn(record.pubKey)} hex digits.`
              }
              {...ownField}
            />
          )}
        </div>
        <div role="status" class="safety-shown">
          {code ? (
            <>
              <p class="safety-digits">
                <code>
                  {code.digits.match(/\d{5}/g)?.map((group, i) => (
                    <span key={i}>{group} </span>
                  ))}
                </code>
              </p>
              <QrCode text={code.payload} label="QR code of your safety code, for the other app" />
            </>
          ) : (
            <p class="detail">
              The code appears here as soon as your id and your {account ? "account" : "key"} are complete.
            </p>
          )}
        </div>
      </div>
      <TextField
        label="What the other app shows (optional)"
        hint="Its 60 digits, or the text of its QR code."
        error={failure?.code === "SAFETY_CODE_INVALID" ? "This is not a safety code." : undefined}
        rows={2}
        value={shown}
        onInput={(text) => {
          setScanned(false);
          setShown(text);
        }}
      />
      <QrReader
        onText={(text) => {
          setScanned(true);
          setShown(text);
        }}
      />
      <div role="status">
        {state === "equal" && (
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

/** Returns an account text without the spaces around it. @returns undefined for other texts */
function readAccount(text: string): string | undefined {
  const trimmed = text.trim();
  return trimmed.startsWith("keyroot/account-v1\n") ? `${trimmed}\n` : undefined;
}
