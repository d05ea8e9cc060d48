import { useState } from "preact/hooks";
import { Command, ShortValue } from "../../shared/copyable.tsx";
import { Form, TextField } from "../../shared/form.tsx";
import { formatCount } from "../../shared/format.ts";
import { Icon } from "../../shared/icon.tsx";
import { go, goWith, useFields } from "../../shared/router.ts";
import { Term } from "../../shared/term.tsx";
import { Time } from "../../shared/time.tsx";
import { call, isAdministrator, type Me, type PartnerSummary } from "../shared/api.ts";
import { CardHead, PagedTable } from "../shared/cards.tsx";
import { TextDialog } from "../shared/dialogs.tsx";
import { createPartnerCommand } from "../shared/exampleCommands.ts";
import { usePages } from "../shared/useCall.ts";

export function PartnersPage({ me }: { me: Me }) {
  const search = useFields().get("search") ?? undefined;
  const partners = usePages("/v1/admin/partners/list", "partners", search === undefined ? {} : { search });
  const [isCreating, setCreating] = useState(false);
  return (
    <>
      <h1>Partners</h1>
      <section class="card" aria-labelledby="partners-title">
        <CardHead
          id="partners-title"
          title={search === undefined ? "All partners" : `Partners with “${search}”`}
          action={isAdministrator(me) ? "Create a partner" : undefined}
          onAction={() => {
            setCreating(true);
          }}
        />
        <Search key={search} initial={search} />
        <PagedTable
          pages={partners}
          columns={[
            ...["Name", "Users", "Published keys", "Pending keys"],
            <Term of="server token">Server tokens</Term>,
            ...["Created", "Identifier"],
          ]}
          row={(partner) => <PartnerRow key={partner.biz_id} partner={partner} />}
          empty={
            search === undefined ? (
              <div class="empty">
                <p>
                  There is no partner yet. Create the first one here, or with the service’s admin token in the variable{" "}
                  <code>ADMIN_TOKEN</code>:
                </p>
                <Command command={createPartnerCommand()} />
              </div>
            ) : (
              <p>No partner was found.</p>
            )
          }
        />
      </section>
      {isCreating && (
        <TextDialog
          title="Create a partner"
          label="Name"
          hint="The name of the company."
          field="name"
          subject="The name"
          note="Then invite the partner’s first administrator, who creates server tokens."
          action="Create"
          onSubmit={async (name = "") => {
            const { biz_id } = await call("/v1/admin/partners/create", { name });
            setCreating(false);
            go(`partners/${biz_id}`);
          }}
          onCancel={() => {
            setCreating(false);
          }}
        />
      )}
    </>
  );
}

function Search({ initial = "" }: { initial: string | undefined }) {
  const [text, setText] = useState(initial);
  return (
    <Form
      class="search"
      onSubmit={() => {
        goWith("partners", { search: text.trim() });
      }}
    >
      <TextField
        label="Search"
        hint="Part of the name, or the beginning of the identifier. Empty for all."
        isWords
        maxLength={200}
        value={text}
        onInput={setText}
        beside={
          <button type="submit" class="button">
            <Icon name="search" /> Search
          </button>
        }
      />
    </Form>
  );
}

function PartnerRow({ partner }: { partner: PartnerSummary }) {
  const { biz_id, name, created, suspended, users, pending_keys, published_keys, server_tokens } = partner;
  return (
    <tr class="row">
      <td class="name-cell">
        <a href={`#/partners/${encodeURIComponent(biz_id)}`}>{name}</a>{" "}
        {suspended !== null && <span class="badge badge-off">suspended</span>}
      </td>
      <td data-name="users">{formatCount(users)}</td>
      <td data-name="published keys">{formatCount(published_keys)}</td>
      <td data-name="pending keys">{formatCount(pending_keys)}</td>
      <td data-name="server tokens">{formatCount(server_tokens)}</td>
      <td data-name="created">
        <Time ms={created} precision="day" />
      </td>
      <td>
        <ShortValue value={biz_id} name="the identifier" />
      </td>
    </tr>
  );
}
