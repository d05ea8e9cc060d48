import { useState } from "preact/hooks";
import { TextField } from "../../shared/textField.tsx";
import type { WebhookEndpoint } from "../api.ts";
import { FormDialog } from "../parts.tsx";
import { useAction } from "../useCall.ts";

/** The types of events, and what each one means. */
const EVENT_TEXTS: Readonly<Record<string, string>> = {
  "key.registered": "a user’s app registered a key",
  "key.pending": "a key waits for its publication",
  "key.refused": "another key was offered for a user who has one",
  "key.withdrawn": "a user’s app withdrew its key",
  "key.discarded": "your company discarded a key",
  "key.published": "a key is published",
  "user.created": "a user was created",
  "refreshToken.created": "a user’s app got a token",
  "refreshToken.revoked": "a token of a user’s app was revoked",
  "partner.suspended": "the operator suspended your company",
};

type Fields = Pick<WebhookEndpoint, "url" | "types">;

interface EndpointDialogProps {
  title: string;
  initial?: Fields;
  note: string;
  action: string;
  onSubmit: (fields: Fields) => Promise<void>;
  onCancel: () => void;
}

/** Asks where events are sent, and which ones. */
export function EndpointDialog({ title, initial, note, action, onSubmit, onCancel }: EndpointDialogProps) {
  const [url, setUrl] = useState(initial?.url ?? "");
  const [types, setTypes] = useState<ReadonlySet<string>>(() => new Set(initial?.types));
  const [isMissing, setMissing] = useState(false);
  const { run, busy, error } = useAction(async () => {
    setMissing(url.trim() === "");
    if (url.trim() !== "") await onSubmit({ url: url.trim(), types: [...types] });
  });
  const detail = error?.fields["url"];
  const ofUrl = isMissing ? "Enter a URL." : detail && `This URL cannot be used: ${detail}.`;
  return (
    <FormDialog {...{ title, action, busy, onCancel }} error={ofUrl === undefined ? error : undefined} onSubmit={run}>
      <TextField
        label="URL"
        hint="An https address of your server that the Internet reaches."
        error={ofUrl}
        placeholder="https://"
        type="url"
        value={url}
        onInput={setUrl}
      />
      <details open={initial !== undefined && initial.types.length > 0}>
        <summary>Only some events</summary>
        <fieldset>
          <legend>Events (none chosen: all of them)</legend>
          {Object.entries(EVENT_TEXTS).map(([type, text]) => (
            <label key={type} class="choice">
              <input
                type="checkbox"
                checked={types.has(type)}
                onChange={({ currentTarget }) => {
                  const chosen = new Set(types);
                  if (currentTarget.checked) chosen.add(type);
                  else chosen.delete(type);
                  setTypes(chosen);
                }}
              />
              <span>
                <code>{type}</code> <small>{text}</small>
              </span>
            </label>
          ))}
        </fieldset>
      </details>
      <p class="detail">{note}</p>
    </FormDialog>
  );
}
