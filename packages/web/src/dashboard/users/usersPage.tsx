import type { AnswerOf, BodyOf } from "@keyroot/service";
import { userIDToHex } from "keyroot/internal/identity";
import { useState } from "preact/hooks";
import { Command, ShortValue } from "../../shared/copyable.tsx";
import { formatCount, REGION_NAMES, regionName } from "../../shared/format.ts";
import { Select } from "../../shared/form.tsx";
import { isBeginningOfUserID } from "../../shared/readUserID.ts";
import { go, goWith, useFields } from "../../shared/router.ts";
import { SearchForm } from "../../shared/searchForm.tsx";
import { Term } from "../../shared/term.tsx";
import { Hour, Time } from "../../shared/time.tsx";
import { isAdministrator, type Me, type Partner } from "../shared/api.ts";
import { CardHead, PagedTable } from "../shared/cards.tsx";
import { ExportButtons } from "../shared/exportButtons.tsx";
import { timeInCsv, toCsv } from "../../shared/csv.ts";
import { createUserCommand } from "../shared/exampleCommands.ts";
import { moveBetweenLinks } from "../shared/moveBetweenLinks.ts";
import { usePages } from "../shared/useCall.ts";
import { CreateUserDialog } from "./createUserDialog.tsx";
import { KEY_STATES, KeyStateBadge } from "./keyStateBadge.tsx";

type ListedUser = AnswerOf<"/v1/dashboard/users/list">["users"][number];
type Filter = Omit<BodyOf<"/v1/dashboard/users/list">, "limit" | "after">;

/** The partner's users and the states of the users' keys. The address contains the filter: `#/users?state=waiting`. */
export function UsersPage({ me, partner }: { me: Me; partner: Partner }) {
  const filter = readFilter(useFields());
  const users = usePages("/v1/dashboard/users/list", "users", filter);
  const [isCreating, setCreating] = useState(false);
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <>
      <h1>Users {users.total !== undefined && <span class="badge badge-off">{formatCount(users.total)}</span>}</h1>
      <section class="card" aria-labelledby="users-title">
        <CardHead
          id="users-title"
          title={isFiltered ? "Users who match" : "All users, newest first"}
          action={isAdministrator(me) ? "Create a user" : undefined}
          onAction={() => {
            setCreating(true);
          }}
        />
        <div class="tools">
          <SearchForm
            key={filter.prefix}
            page="users"
            action="Find"
            initial={filter.prefix ?? ""}
            onBeginning={(prefix) => {
              goWith("users", { ...filter, prefix });
            }}
            hint={
              <>
                The id, its beginning, or 40 hex digits<span class="for-keyboards">. Press / to search</span>
              </>
            }
            hasShortcut
          />
          <Select
            label="State"
            value={filter.state ?? ""}
            set={(state) => {
              goWith("users", { ...filter, state });
            }}
            options={[["", "any"], ...Object.entries(KEY_STATES).map(([state, [, text]]) => [state, text] as const)]}
          />
          <Select
            label="Region"
            value={filter.region ?? ""}
            set={(region) => {
              goWith("users", { ...filter, region });
            }}
            options={[["", "any"], ...Object.entries(REGION_NAMES)]}
          />
        </div>
        {users.items === undefined && users.error === undefined && <p role="status">Loading…</p>}
        <PagedTable
          pages={users}
          columns={["User", "Key", "Region", "Created", "Last use"]}
          row={(user) => <UserRow key={user.user_id} user={user} />}
          empty={
            isFiltered ? (
              <p>No user matches the filter.</p>
            ) : (
              <div class="empty">
                <p>
                  There is no user yet. Your server creates one for each user of your system. To try it, put a{" "}
                  <Term of="server token" /> in the variable <code>TOKEN</code>. <a href="#/servers">Create one</a>{" "}
                  first.
                </p>
                <Command command={createUserCommand(partner.biz_id)} />
              </div>
            )
          }
          onKeyDown={moveBetweenLinks}
        />
        {users.items !== undefined && users.items.length > 0 && (
          <ExportButtons
            path="/v1/dashboard/users/list"
            field="users"
            filter={filter}
            name="users"
            formats={{ csv: toUsersCsv }}
          />
        )}
      </section>
      {isCreating && (
        <CreateUserDialog
          onCreated={({ user_id }) => {
            setCreating(false);
            go(`users/${user_id}`);
          }}
          onCancel={() => {
            setCreating(false);
          }}
        />
      )}
    </>
  );
}

function UserRow({ user }: { user: ListedUser }) {
  const { user_id, state, hold_ends_at, region, created, deactivated, last_used } = user;
  return (
    <tr class="row">
      <td>
        <ShortValue value={user_id} name="the user id" href={`#/users/${user_id}`} />
      </td>
      <td>
        <KeyStateBadge state={state} hold_ends_at={hold_ends_at} />{" "}
        {deactivated !== null && <span class="badge badge-off">deactivated</span>}
      </td>
      <td>{regionName(region)}</td>
      <td data-name="created">
        <Time ms={created} precision="day" />
      </td>
      <td data-name="last use">{last_used === null ? "never" : <Hour ms={last_used} />}</td>
    </tr>
  );
}

function toUsersCsv(users: readonly ListedUser[]): string {
  const rows = users.map(({ user_id, state, region, created, deactivated, last_used, hold_ends_at }) => [
    ...[user_id, userIDToHex(user_id), state, timeInCsv(hold_ends_at), region],
    ...[timeInCsv(created), timeInCsv(deactivated), timeInCsv(last_used)],
  ]);
  const columns = ["user_id", "user_id_hex", "state", "hold_ends_at", "region", "created", "deactivated", "last_used"];
  return toCsv(columns, rows);
}

/** Reads the filter from the address. Ignores unknown values. */
function readFilter(fields: URLSearchParams): Filter {
  const [state = "", region = "", prefix = ""] = ["state", "region", "prefix"].map((name) => fields.get(name) ?? "");
  return {
    ...(prefix !== "" && isBeginningOfUserID(prefix) && { prefix: prefix.trim().toLowerCase() }),
    ...(Object.hasOwn(KEY_STATES, state) && { state: state as ListedUser["state"] }),
    ...(Object.hasOwn(REGION_NAMES, region) && { region: region as ListedUser["region"] }),
  };
}
