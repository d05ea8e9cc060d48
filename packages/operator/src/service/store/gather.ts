import DataLoader from "dataloader";

/** The most questions of one statement. */
const MOST = 100;

/**
 * Makes one statement of all that is asked within a turn of the event loop, so that a busy service goes to its database
 * once for many requests. Nothing is remembered: every question is answered by a statement that began after it.
 * @param ask answers in the order of the questions
 */
export function gather<Question, Answer>(
  ask: (questions: readonly Question[]) => Promise<Answer[]>,
): (question: Question) => Promise<Answer> {
  const loader = new DataLoader(ask, {
    cache: false,
    maxBatchSize: MOST,
    batchScheduleFn: (send) => void setImmediate(send),
  });
  return (question) => loader.load(question);
}
