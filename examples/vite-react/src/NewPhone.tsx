import { useState } from "react";
import { readRecoverySheet, replaceKey } from "./account";

/** Replaces the key of a lost phone with the sheet that the user printed. */
export function NewPhone() {
  const [text, setText] = useState("");
  const [status, setStatus] = useState("");
  const replace = async () => {
    setStatus("Please wait …");
    try {
      setStatus(await replaceKey(await readRecoverySheet(text)));
      setText("");
    } catch (error) {
      setStatus(String(error));
    }
  };
  return (
    <main>
      <h1>New phone</h1>
      <p>Type or scan your recovery sheet. Messages to your old phone stay unreadable on this one.</p>
      <textarea
        aria-label="Recovery sheet"
        rows={12}
        cols={80}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <button disabled={text === ""} onClick={replace}>
        Use this phone
      </button>
      <p role="status">{status}</p>
    </main>
  );
}
