import { userIDToHex } from "keyroot/identity";
import { useState } from "preact/hooks";
import { Field } from "../shared/field.tsx";
import { Form } from "../shared/form.tsx";
import { TextField } from "../shared/textField.tsx";
import { readUserID } from "../shared/userIDInput.ts";
import type { AuditEntry } from "./api.ts";
import { ListEnd, Time } from "./parts.tsx";
import { usePages } from "./useCall.ts";

/** What the log names, as the service does. */
const ACTIONS = [
  ...["partner.created", "partner.suspended", "partner.resumed", "partner.limited"],
  ...["serverToken.created", "serverToken.revoked"],
  ...["user.created", "user.deactivated", "user.erased", "refreshToken.created", "refreshToken.revoked"],
  ...["key.registered", "key.refused", "key.withdrawn", "key.discarded", "key.approved", "key.published"],
  ...["person.invited", "person.roleChanged", "person.removed", "passkey.added", "passkey.removed"],
  ...["session.started", "session.ended", "webhook.created", "webhook.changed", "webhook.paused"],
  ...["webhook.resumed", "webhook.secretRotated", "webhook.deleted"],
];

const ACTORS: Readonly<Record<string, string>> = {
  person: "a person of the dashboard",
  partner: "a partner’s server",
  user: "a user’s app",
  operator: "the operator",
  service: "the service itself",
};

interface Filter {
  action?: string;
  actor_kind?: string;
  user_id_hex?: string;
  since?: number;
  until?: number;
}

/** Who changed what, and when. @param path the call that lists the entries */
export function AuditPage({ path, isOperator = false }: { path: string; isOperator?: boolean }) {
  const [filter, setFilter] = useState<Filter>({});
  const entries = usePages<AuditEntry>(path, "entries", filter);
  return (
    <>
      <h1>Audit log</h1>
      <p class="lead">
        The <dfn>audit log</dfn> says who changed what, and when, in this dashboard and with the API. Its entries cannot
        be changed, and contain no secret.
      </p>
      <section class="card" aria-labelledby="filter-title">
        <h2 id="filter-title">Which entries</h2>
        <FilterForm setFilter={setFilter} />
      </section>
      <section class="card" aria-labelledby="entries-title">
        <h2 id="entries-title">Entries, the newest first</h2>
        {entries.items && entries.items.length > 0 && (
          <ul class="rows">
            {entries.items.map((entry) => (
              <EntryRow key={entry.id} entry={entry} isOperator={isOperator} />
            ))}
          </ul>
        )}
        {entries.items?.length === 0 && !entries.hasMore && <p>There is no such entry.</p>}
        <ListEnd pages={entries} />
      </section>
    </>
  );
}

function FilterForm({ setFilter }: { setFilter: (filter: Filter) => void }) {
  const [action, setAction] = useState("");
  const [actor, setActor] = useState("");
  const [id, setID] = useState("");
  const [since, setSince] = useState("");
  const [until, setUntil] = useState("");
  const [problem, setProblem] = useState<string>();
  const isBackwards = since !== "" && until !== "" && since > until;
  const submit = () => {
    const user = id.trim() === "" ? undefined : readUserID(id);
    setProblem(user && "error" in user ? user.error : undefined);
    if (isBackwards || (user && "error" in user)) return;
    setFilter({
      ...(action !== "" && { action }),
      ...(actor !== "" && { actor_kind: actor }),
      ...(user && { user_id_hex: userIDToHex(user.userID) }),
      ...(since !== "" && { since: startOfDay(since) }),
      ...(until !== "" && { until: startOfDay(until, 1) }),
    });
  };
  return (
    <Form class="filter" onSubmit={submit}>
      <Choice label="What" all="everything" value={action} set={setAction} options={ACTIONS.map(withWords)} />
      <Choice label="Who" all="everybody" value={actor} set={setActor} options={Object.entries(ACTORS)} />
      <Day label="From" value={since} set={setSince} />
      <Day
        label="To"
        error={isBackwards ? "This day is before the first one." : undefined}
        value={until}
        set={setUntil}
      />
      <TextField
        label="User id (optional)"
        hint="32 characters, or 40 hex digits"
        error={problem}
        value={id}
        onInput={(text) => {
          setID(text);
          setProblem(undefined);
        }}
        beside={
          <button type="submit" class="button button-primary">
            Show
          </button>
        }
      />
    </Form>
  );
}

interface ChoiceProps {
  label: string;
  /** What nothing chosen means. */
  all: string;
  value: string;
  set: (value: string) => void;
  options: (readonly [value: string, text: string])[];
}

function Choice({ label, all, value, set, options }: ChoiceProps) {
  return (
    <Field label={label}>
      {(attributes) => (
        <select
          {...attributes}
          value={value}
          onChange={({ currentTarget }) => {
            set(currentTarget.value);
          }}
        >
          <option value="">{all}</option>
          {options.map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface DayProps {
  label: string;
  error?: string | undefined;
  value: string;
  set: (day: string) => void;
}

function Day({ label, error, value, set }: DayProps) {
  return (
    <Field label={label} error={error}>
      {(attributes) => (
        <input
          {...attributes}
          type="date"
          value={value}
          onInput={({ currentTarget }) => {
            set(currentTarget.value);
          }}
        />
      )}
    </Field>
  );
}

function EntryRow({ entry, isOperator }: { entry: AuditEntry; isOperator: boolean }) {
  const { at, action, actor, biz_id, user_id, data, request_id, address } = entry;
  const { token_id } = actor;
  const all: AuditEntry["data"] = { ...data, token: token_id, request: request_id, address };
  const facts = Object.entries(all);
  return (
    <li class="row" data-entry>
      <div class="row-text">
        <b>
          {inWords(action)} <span class="detail">by {actor.name ?? ACTORS[actor.kind] ?? actor.kind}</span>
        </b>
        <span class="detail">
          <Time ms={at} />
        </span>
        {user_id !== null && (
          <span class="detail">
            user {isOperator ? <code>{user_id}</code> : <a href={`#/users/${user_id}`}>{user_id}</a>}
          </span>
        )}
        {isOperator && biz_id !== null && (
          <span class="detail">
            partner <a href={`#/partners/${encodeURIComponent(biz_id)}`}>{biz_id}</a>
          </span>
        )}
        <details>
          <summary>Details</summary>
          <ul class="entry-facts">
            {facts.map(
              ([name, value]) =>
                value !== null && (
                  <li key={name}>
                    {name}: {name.endsWith("At") ? <Time ms={Number(value)} /> : <code>{String(value)}</code>}
                  </li>
                ),
            )}
          </ul>
        </details>
      </div>
    </li>
  );
}

/** "person.roleChanged" as "person role changed". */
function inWords(action: string): string {
  return action.replaceAll(".", " ").replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function withWords(action: string): [action: string, words: string] {
  return [action, inWords(action)];
}

/** Midnight in the person's time zone, in milliseconds since 1970. @param day such as "2027-01-31" */
function startOfDay(day: string, daysLater = 0): number {
  const date = new Date(`${day}T00:00:00`);
  date.setDate(date.getDate() + daysLater);
  return date.getTime();
}
