import { LOWERCASE_HASH } from "keyroot/ethereum";
import { useState } from "preact/hooks";
import { Field, Form, TextField } from "../../shared/form.tsx";
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
    const pinned = draft.pinned.trim().toLowerCase();
    if (draft.anchor === "pinned" && !LOWERCASE_HASH.test(pinned)) {
      setError("A block hash is 0x and 64 hex digits.");
      return;
    }
    setChoice({ ...draft, pinned });
  };
  const source = sourceNamed(draft.anchor);
  return (
    <>
      <Form onSubmit={submit}>
        <Field label="Source of the block" hint={source.hint(all)}>
          {(attributes) => (
            <select
              {...attributes}
              value={draft.anchor}
              onChange={({ currentTarget }) => {
                change({ anchor: currentTarget.value as EvidenceChoice["anchor"] });
              }}
            >
              {SOURCES.filter(({ isPossible }) => isPossible(all.length)).map(({ name, label }) => (
                <option key={name} value={name}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Field>
        {draft.anchor === "quorum" ? (
          <Field label="How many must agree" hint={all.map(hostOf).join(", ")}>
            {(attributes) => (
              <select
                {...attributes}
                value={draft.quorum}
                onChange={({ currentTarget }) => {
                  change({ quorum: Number(currentTarget.value) });
                }}
              >
                {all.slice(1).map((_, i) => (
                  <option key={i} value={i + 2}>
                    {i + 2} of {all.length}
                  </option>
                ))}
              </select>
            )}
          </Field>
        ) : (
          <Field label="Endpoint">
            {(attributes) => (
              <select
                {...attributes}
                value={draft.endpoint}
                onChange={({ currentTarget }) => {
                  change({ endpoint: currentTarget.value });
                }}
              >
                {all.map((url) => (
                  <option key={url} value={url}>
                    {hostOf(url)}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        {draft.anchor === "pinned" && (
          <TextField
            label="Block hash"
            hint={
              <>
                The <Term of="hash" /> of the block: 0x and 64 hex digits.
              </>
            }
            error={error}
            placeholder="0x…"
            value={draft.pinned}
            onInput={(pinned) => {
              change({ pinned });
            }}
          />
        )}
        <label class="choice">
          <input
            type="checkbox"
            checked={draft.storageProof || source.needsProof}
            disabled={source.needsProof}
            onChange={({ currentTarget }) => {
              change({ storageProof: currentTarget.checked });
            }}
          />
          <span>Require a storage proof</span>
        </label>
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

/** Adds an endpoint for the visitor. Reloads the page, so that its policy allows the endpoint. */
function AddEndpoint() {
  const [text, setText] = useState("");
  const [error, setError] = useState<string>();
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
        error={error}
        type="url"
        placeholder="https://"
        value={text}
        onInput={(entered) => {
          setText(entered);
          setError(undefined);
        }}
      />
      <button type="submit" class="button">
        Add endpoint
      </button>
    </Form>
  );
}
