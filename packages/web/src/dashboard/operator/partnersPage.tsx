import { useState } from "preact/hooks";
import { Command } from "../../shared/code.tsx";
import { Form } from "../../shared/form.tsx";
import { Icon } from "../../shared/icon.tsx";
import { go } from "../../shared/router.ts";
import { TextField } from "../../shared/textField.tsx";
import { formatCount, plural } from "../../shared/text.ts";
import { call, isAdministrator, type Me, type PartnerSummary } from "../api.ts";
import { createPartnerCommand } from "../commands.ts";
import { CardHead, ListEnd, Time } from "../parts.tsx";
import { TextDialog } from "../textDialog.tsx";
import { usePages } from "../useCall.ts";

/** All partners with their numbers. */
export function PartnersPage({ me }: { me: Me }) {
  const [search, setSearch] = useState<string>();
  const [text, setText] = useState("");
  const partners = usePages<PartnerSummary>(
    "operator/listPartners",
    "partners",
    search === undefined ? {} : { search },
  );
  const [isCreating, setCreating] = useState(false);
  return (
    <>
      <h1>Partners</h1>
      <p class="lead">
        A partner is a company whose servers create users here, with <dfn>server tokens</dfn>, their secrets. You can
        stop a partner, and you cannot change a published key.
      </p>
      <section class="card" aria-labelledby="partners-title">
        <CardHead
          id="partners-title"
          title={search === undefined ? "All partners" : `Partners with “${search}”`}
          action={isAdministrator(me) ? "Create a partner" : undefined}
          onAction={() => {
            setCreating(true);
          }}
        />
        <Form
          class="search"
          onSubmit={() => {
            setSearch(text.trim() === "" ? undefined : text.trim());
          }}
        >
          <TextField
            label="Search"
            hint="A part of the name, or the beginning of the identifier. Empty for all."
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
        {partners.items && partners.items.length > 0 && (
          <ul class="rows">
            {partners.items.map((partner) => (
              <PartnerRow key={partner.biz_id} partner={partner} />
            ))}
          </ul>
        )}
        {partners.items?.length === 0 &&
          (search === undefined ? (
            <div class="empty">
              <p>
                There is no partner yet. Create the first one here, or with the service’s admin token in the variable{" "}
                <code>ADMIN_TOKEN</code>:
              </p>
              <Command command={createPartnerCommand()} />
            </div>
          ) : (
            <p>No partner was found.</p>
          ))}
        <ListEnd pages={partners} />
      </section>
      {isCreating && (
        <TextDialog
          title="Create a partner"
          label="Name"
          hint="The company, as its people know it."
          field="name"
          subject="The name"
          note="Then invite the partner’s first administrator, who creates server tokens."
          action="Create"
          onSubmit={async (name) => {
            const { biz_id } = await call<{ biz_id: string }>("operator/createPartner", { name });
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

function PartnerRow({ partner }: { partner: PartnerSummary }) {
  const { biz_id, name, created, suspended, users, pending_keys, published_keys, server_tokens } = partner;
  return (
    <li class="row">
      <div class="row-text">
        <b>
          <a href={`#/partners/${encodeURIComponent(biz_id)}`}>{name}</a>{" "}
          {suspended !== null && <span class="badge badge-off">suspended</span>}
        </b>
        <span class="detail">
          {plural(users, "user")} · {plural(published_keys, "published key")} · {formatCount(pending_keys)} pending ·{" "}
          {plural(server_tokens, "server token")} · created <Time ms={created} />
        </span>
        <code class="detail">{biz_id}</code>
      </div>
    </li>
  );
}
