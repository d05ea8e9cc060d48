import type { BodyOf } from "@keyroot/service";
import { userIDToHex } from "keyroot/internal/identity";
import { useState } from "preact/hooks";
import { goWith, useFields } from "../../shared/router.ts";
import { Value } from "../../shared/copyable.tsx";
import { Fact, Facts } from "../../shared/facts.tsx";
import { Field, Form, Select, TextField, useText } from "../../shared/form.tsx";
import { shorten } from "../../shared/format.ts";
import { readUserID } from "../../shared/readUserID.ts";
import { Term } from "../../shared/term.tsx";
import { Time } from "../../shared/time.tsx";
import type { AuditEntry } from "../shared/api.ts";
import { ListEnd } from "../shared/cards.tsx";
import { usePages } from "../shared/useCall.ts";
import { ExportButtons } from "../shared/exportButtons.tsx";
import { entriesToCsv, toJsonLines } from "./exportEntries.ts";

/** The operations that list the audit log for a partner and for the operator. */
type AuditPath = "/v1/authdBizSrv/audit/list" | "/v1/admin/audit/list";
type AuditFilter = Omit<BodyOf<"/v1/authdBizSrv/audit/list">, "limit" | "after">;

/** All actions in the audit log, by the service's names. */
const ACTIONS = [
  ...["partner.created", "partner.suspended", "partner.resumed", "partner.limited"],
  ...["serverToken.created", "serverToken.revoked"],
  ...["user.created", "user.deactivated", "user.erased", "refreshToken.created", "refreshToken.revoked"],
  ...["key.registered", "key.conflict", "key.withdrawn", "key.discarded", "key.approved", "key.published"],
  ...["account.stored", "keyChange.submitted", "keyChange.objected", "keyChange.approved"],
  ...["keyChange.published", "keyChange.taken"],
  ...["person.invited", "person.roleChanged", "person.removed", "passkey.added", "passkey.removed"],
  ...["session.started", "session.ended", "webhook.created", "webhook.changed", "webhook.paused"],
  ...["webhook.resumed", "webhook.secretRotated", "webhook.deleted"],
];

const ACTORS: Readonly<Record<string, string>> = {
  person: "a person in the dashboard",
  partner: "a partner’s server",
  user: "a user’s app",
  operator: "the operator",
  service: "the service itself",
};

/** The words for a partner's people. They can read only the entries of their own company. */
const OWN_ACTORS: typeof ACTORS = { ...ACTORS, partner: "your server" };

/**
 * The page with the list of changes. Each entry shows its time and author. The filter is part of the address:
 * `#/audit?user=…`.
 * @param props `path` is the operation that lists the entries
 */
export function AuditLogPage({ path, isOperator = false }: { path: AuditPath; isOperator?: boolean }) {
  const fields = Object.fromEntries(useFields());
  const filter = toFilter(fields);
  const entries = usePages(path, "entries", filter);
  return (
    <>
      <h1>
        <Term of="audit log">Audit log</Term>
      </h1>
      <section class="card" aria-labelledby="entries-title">
        <div class="card-head">
          <h2 id="entries-title">Entries, newest first</h2>
          <ExportButtons
            path={path}
            field="entries"
            filter={filter}
            name="audit-log"
            formats={{ csv: entriesToCsv, jsonl: toJsonLines }}
          />
        </div>
        <FilterForm key={JSON.stringify(fields)} {...{ fields, filter }} actors={isOperator ? ACTORS : OWN_ACTORS} />
        {entries.items && entries.items.length > 0 && (
          <ul class="entries">
            {entries.items.map((entry) => (
              <EntryRow
                key={entry.id}
                entry={entry}
                isOperator={isOperator}
                onActor={(actor) => {
                  goWith("audit", { ...fields, actor });
                }}
              />
            ))}
          </ul>
        )}
        {entries.items === undefined && entries.error === undefined && <p role="status">Loading…</p>}
        {entries.items?.length === 0 && !entries.hasNext && <p>No entry matches the filter.</p>}
        <ListEnd pages={entries} />
      </section>
    </>
  );
}

/** The fields of the address: a user id, an action, a kind of actor, an actor's id, and the first and last day. */
type Fields = Readonly<Partial<Record<"user" | "what" | "who" | "actor" | "from" | "to", string>>>;

/** Converts the address to a filter. Ignores unknown values. */
function toFilter({ user = "", what = "", who = "", actor = "", from = "", to = "" }: Fields): AuditFilter {
  const read = readUserID(user);
  return {
    ...(ACTIONS.includes(what) && { action: what }),
    ...(Object.hasOwn(ACTORS, who) && { actor_kind: who }),
    ...(/^[A-Za-z0-9-]{1,64}$/.test(actor) && { actor_id: actor }),
    ...("userID" in read && { user_id_hex: userIDToHex(read.userID) }),
    ...(isDay(from) && { since: startOfDay(from) }),
    ...(isDay(to) && { until: startOfDay(to, 1) }),
  } as AuditFilter;
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(startOfDay(text));
}

interface FilterProps {
  fields: Fields;
  /** The valid part of the fields. */
  filter: AuditFilter;
  actors: typeof ACTORS;
}

function FilterForm({ fields, filter, actors }: FilterProps) {
  const [action, setAction] = useState<string>(filter.action ?? "");
  const [actor, setActor] = useState<string>(filter.actor_kind ?? "");
  const read = fields.user === undefined ? undefined : readUserID(fields.user);
  const id = useText(fields.user, read && "error" in read ? read.error : undefined);
  const [since, setSince] = useState(filter.since === undefined ? "" : (fields.from ?? ""));
  const [until, setUntil] = useState(filter.until === undefined ? "" : (fields.to ?? ""));
  const isBackwards = since !== "" && until !== "" && since > until;
  const submit = () => {
    const user = id.text.trim() === "" ? undefined : readUserID(id.text);
    id.setError(user && "error" in user ? user.error : undefined);
    if (isBackwards || (user && "error" in user)) return;
    goWith("audit", { user: user?.userID, what: action, who: actor, from: since, to: until });
  };
  return (
    <Form class="tools" onSubmit={submit}>
      <TextField
        label="User id (optional)"
        {...id.field}
        beside={
          <button type="submit" class="button button-primary">
            Show
          </button>
        }
      />
      <Select
        label="What"
        value={action}
        set={setAction}
        options={[["", "everything"], ...ACTIONS.map((name) => [name, inWords(name)] as const)]}
      />
      <Select label="Who" value={actor} set={setActor} options={[["", "everyone"], ...Object.entries(actors)]} />
      <Day label="From" value={since} set={setSince} />
      <Day
        label="To"
        error={isBackwards ? "This day is before the day in From." : undefined}
        value={until}
        set={setUntil}
      />
      {fields.actor !== undefined && (
        <p class="detail">
          Only entries by the actor <code>{shorten(fields.actor)}</code>. Show removes this condition.
        </p>
      )}
    </Form>
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

interface EntryProps {
  entry: AuditEntry;
  isOperator: boolean;
  onActor: (actorID: string) => void;
}

/** An entry in one line. A click shows the entry's values. */
function EntryRow({ entry, isOperator, onActor }: EntryProps) {
  const { at, action, actor, biz_id, user_id, data, request_id, address } = entry;
  const { token_id, id } = actor;
  const facts: AuditEntry["data"] = { ...data, token_id, request_id, address };
  return (
    <li class="row" data-entry>
      <details>
        <summary>
          <span class="entry-line">
            <span class="detail">
              <Time ms={at} />
            </span>
            <b>{inWords(action)}</b>
            <span>{actor.name ?? (isOperator ? ACTORS : OWN_ACTORS)[actor.kind] ?? actor.kind}</span>
            <code class="detail">{user_id !== null && shorten(user_id)}</code>
          </span>
        </summary>
        <Facts>
          {user_id !== null && (
            <Fact name="user">
              <Value
                value={user_id}
                name={`the user id ${shorten(user_id)}`}
                href={isOperator ? undefined : `#/users/${user_id}`}
              />
            </Fact>
          )}
          {isOperator && biz_id !== null && (
            <Fact name="partner">
              <Value
                value={biz_id}
                name={`biz_id ${shorten(biz_id)}`}
                href={`#/partners/${encodeURIComponent(biz_id)}`}
              />
            </Fact>
          )}
          {Object.entries(facts).map(
            ([name, value]) =>
              value !== null && (
                <Fact key={name} name={name.replaceAll("_", " ")}>
                  {name === "hold_ends_at" ? <Time ms={Number(value)} /> : <code>{String(value)}</code>}
                </Fact>
              ),
          )}
          {id !== null && (
            <Fact name="actor">
              <code>{id}</code>{" "}
              <button
                type="button"
                class="button button-small"
                onClick={() => {
                  onActor(id);
                }}
              >
                Only this actor
              </button>
            </Fact>
          )}
        </Facts>
      </details>
    </li>
  );
}

/** Converts an action such as "person.roleChanged" to "person role changed". */
function inWords(action: string): string {
  return action.replaceAll(".", " ").replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** Returns midnight in the person's time zone, in milliseconds since 1970. @param day such as "2027-01-31" */
function startOfDay(day: string, daysLater = 0): number {
  const date = new Date(`${day}T00:00:00`);
  date.setDate(date.getDate() + daysLater);
  return date.getTime();
}
