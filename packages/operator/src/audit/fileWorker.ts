/** A thread that reads and judges files: it answers each question with the same number. */
import { parentPort, workerData } from "node:worker_threads";
import { checkFile, type FileAnswer, type FileQuestion } from "./checkFile.ts";
import type { FileSource } from "./fileSource.ts";

export interface NumberedQuestion {
  number: number;
  question: FileQuestion;
}

/** The answer; or, where none can be given, what went wrong in the thread itself. */
export type NumberedAnswer = { number: number } & ({ answer: FileAnswer } | { error: unknown });

const port = parentPort;
port?.on("message", ({ number, question }: NumberedQuestion) => {
  checkFile(question, workerData as FileSource).then(
    (answer) => {
      const moved = "users" in answer && answer.users !== undefined ? [answer.users.buffer as ArrayBuffer] : [];
      port.postMessage({ number, answer } satisfies NumberedAnswer, moved);
    },
    (error: unknown) => {
      port.postMessage({ number, error } satisfies NumberedAnswer);
    },
  );
});
