import { useState } from "preact/hooks";
import { TextField } from "../../shared/form.tsx";
import { Term } from "../../shared/term.tsx";
import type { WebhookEndpoint } from "../shared/api.ts";
import { CodeTabs } from "../shared/codeTabs.tsx";
import { VERIFY_WEBHOOKS_IN_NODE, VERIFY_WEBHOOKS_IN_PYTHON } from "../shared/exampleCommands.ts";
import { FormDialog, Secret } from "../shared/dialogs.tsx";
import { useAction } from "../shared/useCall.ts";

type EventType = WebhookEndpoint["types"][number];

const EVENT_TEXTS: Readonly<Record<EventType, string>> = {
  "key.registered": "a user’s app registered a key",
  "key.pending": "a key waits, so that the user’s app can withdraw it",
  "key.conflict": "somebody registered another key for a user who has one",
  "key.withdrawn": "a user’s app withdrew its key",
  "key.discarded": "your company discarded a key",
  "key.published": "a key is published",
  "keyChange.submitted": "a user’s app submitted a change of its key",
  "keyChange.held": "a change waits, so that the user or your company can object",
  "keyChange.objected": "somebody objected to a change",
  "keyChange.approved": "your company approved a change after an objection",
  "keyChange.published": "a changed key is published",
  "keyChange.taken": "a change failed, because another key has its slot",
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

/** A dialog that asks for an endpoint's URL and event types. */
export function EndpointDialog({ title, initial, note, action, onSubmit, onCancel }: EndpointDialogProps) {
  const [url, setUrl] = useState(initial?.url ?? "");
  const [types, setTypes] = useState<ReadonlySet<EventType>>(() => new Set(initial?.types));
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
        hint="An https:// URL of your server that is reachable from the Internet."
        error={ofUrl}
        placeholder="https://"
        type="url"
        value={url}
        onInput={setUrl}
      />
      <details open={initial !== undefined && initial.types.length > 0}>
        <summary>Only some events</summary>
        <fieldset>
          <legend>
            <Term of="event">Events</Term> (choose none to receive all)
          </legend>
          {(Object.entries(EVENT_TEXTS) as [EventType, string][]).map(([type, text]) => (
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

interface WebhookSecretProps {
  secret: string;
  setSecret: (secret: undefined) => void;
}

/** Shows an endpoint's secret until the person clicks Done. */
export function WebhookSecret({ secret, setSecret }: WebhookSecretProps) {
  return (
    <Secret
      title="The endpoint’s secret"
      name="the secret"
      value={secret}
      steps={<CodeTabs codes={{ Node: VERIFY_WEBHOOKS_IN_NODE, Python: VERIFY_WEBHOOKS_IN_PYTHON }} />}
      onDone={() => {
        setSecret(undefined);
      }}
    >
      <p>
        With this secret, your server verifies that a request comes from this service. Store it now. It is shown until
        you click Done, and cannot be shown again.
      </p>
    </Secret>
  );
}
