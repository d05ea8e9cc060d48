import type { ErrorCode, VerificationStep } from "keyroot/errors";
import { plainFile } from "../../fixtures/plainFile.ts";
import { plainText, type Question, toInput, type Vector } from "./vector.ts";

/** A file that is to be refused, and what it is asked. */
export interface Forged<Asked = Question> {
  content: string | Uint8Array;
  question: Asked;
}

/** Name, what it is in one line, and the file; its text alone goes with the common question. */
type Case<Asked> = readonly [name: string, about: string, forged: Forged<Asked> | Forged["content"]];

/** Vectors that are all refused in the same way. */
export function refused<Asked = Question>(
  refusal: `${VerificationStep}: ${ErrorCode}`,
  question: Asked,
  cases: readonly Case<Asked>[],
): Vector<Asked>[] {
  const [step, code] = refusal.split(": ") as [VerificationStep, ErrorCode];
  return cases.map(([name, about, forged]) => {
    const whole = typeof forged === "string" || forged instanceof Uint8Array ? { content: forged, question } : forged;
    const input = toInput(Buffer.from(whole.content as string));
    return { name, about, question: whole.question, input, verdict: { step, code } };
  });
}

/** A file of these values that is consistent in itself, held against its own root: what a forger would publish. */
export function rebuilt(values: readonly string[], userID: string): Forged {
  return { content: plainText(values), question: { userID, root: plainFile(values).root } };
}
