import { useState } from "preact/hooks";
import { Term } from "../../shared/term.tsx";
import { Icon } from "../../shared/icon.tsx";
import { saveFile } from "../../shared/saveFile.ts";
import { Explanation } from "../shared/explanation.tsx";
import { callWorker } from "../shared/callWorker.ts";
import type { Failure, VerifiedResult } from "../worker/messages.ts";
import type { Verification } from "./useVerification.ts";

export function TakeAlong({ verification, verified }: { verification: Verification; verified: VerifiedResult }) {
  const [state, setState] = useState<"idle" | "busy" | { failure: Failure } | { defect: string }>("idle");
  const { userID, options } = verification;
  const downloadBundle = async () => {
    setState("busy");
    try {
      const result = await callWorker("evidence", "makeBundle", { userID, options });
      if ("failure" in result) {
        setState({ failure: result.failure });
        return;
      }
      downloadJson(`${userID}.bundle.json`, result.bundle);
      setState("idle");
    } catch (error) {
      setState({ defect: String(error) });
    }
  };
  return (
    <>
      <p>
        A <Term of="proof" /> shows that the record is under the root. A <Term of="bundle" /> also proves that the
        contract has this root at one block. Anyone who knows that block’s <Term of="hash" /> can verify it{" "}
        <a href="#/bundle">offline</a>.
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
        {typeof state === "object" &&
          ("failure" in state ? <Explanation failure={state.failure} /> : <p class="error">{state.defect}</p>)}
      </div>
    </>
  );
}

function downloadJson(name: string, value: unknown): void {
  saveFile(name, new Blob([JSON.stringify(value)], { type: "application/json" }));
}
