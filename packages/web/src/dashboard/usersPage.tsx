import { useState } from "preact/hooks";
import { Command } from "../shared/code.tsx";
import { go } from "../shared/router.ts";
import { SearchForm } from "../shared/searchForm.tsx";
import { isAdministrator, type Me, type Partner, type User } from "./api.ts";
import { createUserCommand } from "./commands.ts";
import { CreateUserDialog } from "./createUserDialog.tsx";
import { CardHead, ListEnd, Time } from "./parts.tsx";
import { regionName } from "./regions.ts";
import { usePages } from "./useCall.ts";

/** The partner's users. */
export function UsersPage({ me, partner }: { me: Me; partner: Partner }) {
  const users = usePages<User>("users/list", "users");
  const [isCreating, setCreating] = useState(false);
  return (
    <>
      <h1>Users</h1>
      <p class="lead">
        A user here is the shadow of a user of your own system: a random id of 160 bits, and the region of its data. The
        service knows nothing else about the person.
      </p>
      <section class="card" aria-labelledby="find-title">
        <h2 id="find-title">Find a user</h2>
        <SearchForm page="users" action="Find" />
      </section>
      <section class="card" aria-labelledby="users-title">
        <CardHead
          id="users-title"
          title="All users, by id"
          action={isAdministrator(me) ? "Create a user" : undefined}
          onAction={() => {
            setCreating(true);
          }}
        />
        {users.items && users.items.length > 0 && (
          <ul class="rows">
            {users.items.map((user) => (
              <li key={user.user_id} class="row">
                <div class="row-text">
                  <a href={`#/users/${user.user_id}`}>
                    <code>{user.user_id}</code>
                  </a>
                  <span class="detail">
                    {regionName(user.region)} · created <Time ms={user.created} />
                    {user.deactivated !== null && (
                      <>
                        {" · "}
                        <span class="badge badge-off">deactivated</span>
                      </>
                    )}
                  </span>
                </div>
              </li>
            ))}
          </ul>
        )}
        {users.items?.length === 0 && !users.hasMore && (
          <div class="empty">
            <p>
              There is no user yet. Your server creates one for each user of your own system. Try it with a{" "}
              <a href="#/servers">
                <dfn>server token</dfn>
              </a>
              , a secret of your server, in the variable <code>TOKEN</code>: the first command gets an{" "}
              <dfn>access token</dfn>, which is valid for four hours, the second creates a user with a random id.
            </p>
            <Command command={createUserCommand(partner.biz_id)} />
          </div>
        )}
        <ListEnd pages={users} />
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
