import type { ErrorCode, VerificationStep } from "keyroot/errors";
import { plainFile } from "../../../test/support/data/plainFile.ts";
import { type FileQuery, plainText, toInput, type Vector } from "./vector.ts";

/** A document that must be rejected, and the query about it. */
export interface Forged<Query = FileQuery> {
  content: string | Uint8Array;
  question: Query;
}

/** The name, a description in one line, and the document. A document alone uses the common query. */
type Case<Query> = readonly [name: string, about: string, forged: Forged<Query> | Forged["content"]];

/** Makes vectors that all have the same verdict, such as "file: FILE_SHAPE". */
export function rejected<Query = FileQuery>(
  verdict: `${VerificationStep}: ${ErrorCode}`,
  question: Query,
  cases: readonly Case<Query>[],
): Vector<Query>[] {
  const [step, code] = verdict.split(": ") as [VerificationStep, ErrorCode];
  return cases.map(([name, about, forged]) => {
    const whole = typeof forged === "string" || forged instanceof Uint8Array ? { content: forged, question } : forged;
    const input = toInput(Buffer.from(whole.content as string));
    return { name, about, question: whole.question, input, verdict: { step, code } };
  });
}

/** The consistent file of these values, with its own root in the query: a careful forgery. */
export function rebuilt(values: readonly string[], userID: string): Forged {
  return { content: plainText(values), question: { userID, root: plainFile(values).root } };
}
