import { type ContactOutcome, describeError } from "keyroot";

/** Shows whether a contact's key is verified, since when, or why not. Only the advice `warn` is an alarm. */
export function Badge({ outcome }: { outcome: ContactOutcome | undefined }) {
  if (outcome === undefined) return <span>Checking …</span>;
  if ("verified" in outcome) {
    const { cached } = outcome.verified;
    if (!cached?.offline) return <span>✓ Verified</span>;
    return <span>✓ Verified on {new Date(cached.checkedAt).toLocaleString()}</span>;
  }
  const { title, text } = describeError(outcome.error);
  return (
    <span role={outcome.error.advice === "warn" ? "alert" : "note"}>
      <strong>{title}.</strong> {text}
    </span>
  );
}
