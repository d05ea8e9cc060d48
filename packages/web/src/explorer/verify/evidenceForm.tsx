import { LOWERCASE_HASH } from "keyroot/internal/ethereum";
import { useState } from "preact/hooks";
import { Form, Select, TextField, useText } from "../../shared/form.tsx";
import { Term } from "../../shared/term.tsx";
import { config, endpoints, hostOf, isEndpoint, saveVisitorEndpoints, visitorEndpoints } from "../shared/config.ts";
import { type EvidenceChoice, sourceNamed, SOURCES } from "./sources.ts";

interface EvidenceFormProps {
  choice: EvidenceChoice;
  setChoice: (choice: EvidenceChoice) => void;
}

export function EvidenceForm({ choice, setChoice }: EvidenceFormProps) {
  const [draft, setDraft] = useState(choice);
  const [error, setError] = useState<string>();
  const all = endpoints();
  const change = (changes: Partial<EvidenceChoice>) => {
    setDraft({ ...draft, ...changes });
    setError(undefined);
  };
  const submit = () => {
    const hash = draft.hash.trim().toLowerCase();
    if (draft.source === "pinned-block" && !LOWERCASE_HASH.test(hash)) {
      setError("A block hash is 0x and 64 hex digits.");
      return;
    }
    setChoice({ ...draft, hash });
  };
  const source = sourceNamed(draft.source);
  return (
    <>
      <Form onSubmit={submit}>
        <Select
          label="Source of the block"
          hint={source.hint(all)}
          value={draft.source}
          set={(source) => {
            change({ source: source as EvidenceChoice["source"] });
          }}
          options={SOURCES.filter(({ isPossible }) => isPossible(all.length)).map(({ name, label }) => [name, label])}
        />
        {draft.source === "endpoints" ? (
          <Select
            label="How many must agree"
            hint={all.map(hostOf).join(", ")}
            value={String(draft.required)}
            set={(required) => {
              change({ required: Number(required) });
            }}
            options={all.slice(1).map((_, i) => [String(i + 2), `${i + 2} of ${all.length}`])}
          />
        ) : (
          <Select
            label="Endpoint"
            value={draft.endpoint}
            set={(endpoint) => {
              change({ endpoint });
            }}
            options={all.map((url) => [url, hostOf(url)])}
          />
        )}
        {draft.source === "pinned-block" && (
          <TextField
            label="Block hash"
            hint={
              <>
                The <Term of="hash" /> of the block: 0x and 64 hex digits.
              </>
            }
            error={error}
            placeholder="0x…"
            value={draft.hash}
            onInput={(hash) => {
              change({ hash });
            }}
          />
        )}
        <button type="submit" class="button button-primary">
          Verify with this evidence
        </button>
      </Form>
      {config.visitorEndpoints === true && (
        <details>
          <summary>Add an endpoint of your own</summary>
          <AddEndpoint />
        </details>
      )}
    </>
  );
}

/** Adds an endpoint for the visitor. Reloads the page, so that the page's policy allows the endpoint. */
function AddEndpoint() {
  const { text, setError, field } = useText();
  const submit = () => {
    const url = text.trim();
    if (!isEndpoint(url)) setError("Enter the URL of an endpoint: https://…, or http:// on your own machine.");
    else if (endpoints().some((known) => hostOf(known) === hostOf(url)))
      setError("There already is an endpoint with this host.");
    else {
      saveVisitorEndpoints([...visitorEndpoints(), url]);
      location.reload();
    }
  };
  return (
    <Form class="add-endpoint" onSubmit={submit}>
      <TextField
        label="URL of the endpoint"
        hint="Stored in this tab only. The page reloads, so that it may connect to this host."
        type="url"
        placeholder="https://"
        {...field}
      />
      <button type="submit" class="button">
        Add endpoint
      </button>
    </Form>
  );
}
