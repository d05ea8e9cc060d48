import type { Failure } from "../worker/messages.ts";

/**
 * The rows of docs/errors.md. The build replaces each ERROR_TABLE with the whole table, so only this line uses
 * ERROR_TABLE.
 */
const errorTable = ERROR_TABLE;

/** Explains an error in the words of docs/errors.md, and shows the error's message. */
export function Explanation({ failure: { code = "", message } }: { failure: Pick<Failure, "code" | "message"> }) {
  return (
    <>
      <Meaning code={code} />
      <Remedy code={code} />
      <p class="detail">{message}</p>
    </>
  );
}

export function Meaning({ code }: { code: string }) {
  return (
    <p>
      <code class="error-code">{code}</code> {errorTable[code]?.meaning}
    </p>
  );
}

export function Remedy({ code }: { code: string }) {
  const remedy = errorTable[code]?.remedy;
  return remedy === undefined ? null : (
    <p class="remedy">
      <b>What to do:</b> {remedy}
    </p>
  );
}
