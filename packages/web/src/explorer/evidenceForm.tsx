import { LOWERCASE_HASH } from "keyroot/ethereum";
import { useState } from "preact/hooks";
import { Field } from "../shared/field.tsx";
import { Form } from "../shared/form.tsx";
import { TextField } from "../shared/textField.tsx";
import { config, endpoints, hostOf, isEndpoint, saveVisitorEndpoints, visitorEndpoints } from "./config.ts";
import type { EvidenceChoice } from "./evidenceChoice.ts";

interface EvidenceFormProps {
  choice: EvidenceChoice;
  setChoice: (choice: EvidenceChoice) => void;
}

/** The choice of the evidence that a verification requires. */
export function EvidenceForm({ choice, setChoice }: EvidenceFormProps) {
  const [draft, setDraft] = useState(choice);
  const [error, setError] = useState<string>();
  const all = endpoints();
  const change = (changes: Partial<EvidenceChoice>) => {
    setDraft({ ...draft, ...changes });
    setError(undefined);
  };
  const submit = () => {
    const blockHash = draft.blockHash.trim().toLowerCase();
    if (draft.anchor === "pinned" && !LOWERCASE_HASH.test(blockHash)) {
      setError("A block hash is 0x and 64 hex digits.");
      return;
    }
    setChoice({ ...draft, blockHash });
  };
  const anchor = (value: EvidenceChoice["anchor"], label: string, hint: string, disabled = false) => (
    <label class="choice">
      <input
        type="radio"
        name="anchor"
        value={value}
        checked={draft.anchor === value}
        disabled={disabled}
        onChange={() => {
          change({ anchor: value });
        }}
      />
      <span>
        <b>{label}</b>
        <small>{hint}</small>
      </span>
    </label>
  );
  return (
    <section class="card" aria-labelledby="evidence-title">
      <h2 id="evidence-title">Choose the evidence</h2>
      <p>
        <dfn>Evidence</dfn> is what the contract’s answer rests on. The verifier accepts nothing less than what you
        choose.
      </p>
      <Form onSubmit={submit}>
        <fieldset>
          <legend>Which block counts</legend>
          {anchor("endpoint", "One endpoint", "The latest block of the endpoint below. You trust its word.")}
          {anchor(
            "quorum",
            "Several endpoints",
            all.length < 2
              ? "Needs at least two endpoints. This explorer names one."
              : `A block and an answer on which enough of ${all.length} endpoints agree.`,
            all.length < 2,
          )}
          {anchor(
            "pinned",
            "A block that I trust",
            "You enter a block’s hash from your own node, or from someone you trust.",
          )}
        </fieldset>
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
            error={error}
            placeholder="0x…"
            value={draft.blockHash}
            onInput={(blockHash) => {
              change({ blockHash });
            }}
          />
        )}
        <label class="choice">
          <input
            type="checkbox"
            checked={draft.storageProof}
            onChange={({ currentTarget }) => {
              change({ storageProof: currentTarget.checked });
            }}
          />
          <span>
            <b>
              Require a <dfn>storage proof</dfn>
            </b>
            <small>
              A chain of hashes from the block to the contract’s data. Under a block that the endpoint itself chose, it
              adds little.
            </small>
          </span>
        </label>
        <button type="submit" class="button button-primary">
          Verify with this evidence
        </button>
      </Form>
      {config.visitorEndpoints === true && <AddEndpoint />}
    </section>
  );
}

/** Adds an endpoint of the visitor's own. The page is loaded again, so that its policy allows this one, too. */
function AddEndpoint() {
  const [text, setText] = useState("");
  const [error, setError] = useState<string>();
  const submit = () => {
    const url = text.trim();
    if (!isEndpoint(url)) setError("Enter the URL of an endpoint: https://…, or http:// on your own machine.");
    else if (endpoints().some((known) => hostOf(known) === hostOf(url)))
      setError("There is an endpoint with this host already.");
    else {
      saveVisitorEndpoints([...visitorEndpoints(), url]);
      location.reload();
    }
  };
  return (
    <Form class="add-endpoint" onSubmit={submit}>
      <TextField
        label="Add an endpoint of your own"
        hint="Kept in this tab only. The page is loaded again, and can then connect to this host, too."
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
