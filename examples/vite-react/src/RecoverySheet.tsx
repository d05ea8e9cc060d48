import { useState } from "react";
import { makeRecoverySheet, type RecoverySheet as Sheet, registerFirstKey } from "./account";

/** Makes the user's account, and shows the sheet that the user prints before the first key is registered. */
export function RecoverySheet() {
  const [sheet, setSheet] = useState<Sheet>();
  const [status, setStatus] = useState("");
  const run = (work: () => Promise<void>) => {
    setStatus("Please wait …");
    work().catch((error: unknown) => setStatus(String(error)));
  };
  const make = () =>
    run(async () => {
      setSheet(await makeRecoverySheet());
      setStatus("");
    });
  const register = (made: Sheet) => run(async () => setStatus(await registerFirstKey(made)));
  return (
    <main>
      <h1>Recovery sheet</h1>
      <p>If you lose your phone, only this sheet gives you your account back. We never ask you for it.</p>
      {sheet === undefined ? (
        <button onClick={make}>Make my recovery sheet</button>
      ) : (
        <>
          <textarea aria-label="Recovery sheet" readOnly rows={12} cols={80} value={sheet.text} />
          <button onClick={() => window.print()}>Print</button>
          <button onClick={() => register(sheet)}>I have printed it</button>
        </>
      )}
      <p role="status">{status}</p>
    </main>
  );
}
