import type { AnswerOf } from "@keyroot/service";
import { Link } from "../../shared/copyable.tsx";
import { formatCost, formatCount, plural, shorten } from "../../shared/format.ts";
import { Term } from "../../shared/term.tsx";
import { Time } from "../../shared/time.tsx";
import type { Me } from "../shared/api.ts";
import { Unloaded } from "../shared/cards.tsx";
import { useLoaded } from "../shared/useCall.ts";
import { Numbers, ToDo } from "./numbers.tsx";

type Overview = AnswerOf<"/v1/dashboard/overview/get">;

/** The partner's start page: tasks, and numbers with links to lists. */
export function OverviewPage({ me }: { me: Me }) {
  const { data, error, reload } = useLoaded("/v1/dashboard/overview/get", {});
  return (
    <>
      <h1>Overview</h1>
      {data === undefined && <Unloaded error={error} reload={reload} />}
      {data && (
        <>
          <ToDo items={toDo(data)} />
          <Keys overview={data} />
          <State overview={data} me={me} />
        </>
      )}
    </>
  );
}

function toDo({ pending: { undecided }, failing_webhooks: failing }: Overview) {
  const webhook = failing.length === 1 ? `webhooks/${failing[0] ?? ""}` : "webhooks";
  return [
    ...(undecided > 0
      ? [{ text: `${plural(undecided, "key waits", "keys wait")} for your decision.`, page: "users?state=undecided" }]
      : []),
    ...(failing.length > 0
      ? [{ text: `${plural(failing.length, "webhook fails", "webhooks fail")}.`, page: webhook }]
      : []),
  ];
}

function Keys({ overview: { users, published, pending } }: { overview: Overview }) {
  return (
    <section class="card" aria-labelledby="keys-title">
      <h2 id="keys-title">
        Users and their <Term of="public key">public keys</Term>
      </h2>
      <Numbers
        items={[
          { label: "Users", value: formatCount(users), page: "users" },
          { label: "Published", value: formatCount(published), page: "users?state=published" },
          { label: "In hold", value: formatCount(pending.waiting), page: "users?state=waiting" },
          {
            label: "Waiting for a decision",
            value: formatCount(pending.undecided),
            page: "users?state=undecided",
            isBad: pending.undecided > 0,
          },
          { label: "In the next batch", value: formatCount(pending.ready), page: "users?state=ready" },
        ]}
      />
    </section>
  );
}

function State({ overview: { cost, unpriced, failing_webhooks, chain, last_published }, me }: OverviewProps) {
  const { block_explorer_url: explorer } = me;
  const isChainDown = chain?.block === null;
  return (
    <section class="card" aria-labelledby="state-title">
      <h2 id="state-title">Service and chain</h2>
      <Numbers
        items={[
          {
            label: "Failing webhooks",
            value: formatCount(failing_webhooks.length),
            page: "webhooks",
            isBad: failing_webhooks.length > 0,
          },
          {
            label: "Cost so far",
            value: formatCost(BigInt(cost)),
            page: "publishing",
            ...(unpriced > 0 && { note: `without ${plural(unpriced, "user")}` }),
          },
          {
            label: "Last published",
            value: last_published === null ? "never" : <Time ms={last_published} precision="day" />,
            page: "publishing",
          },
          ...(chain === null
            ? []
            : [
                {
                  label: `Chain ${chain.chain_id}`,
                  value: chain.block === null ? "no answer" : formatCount(chain.block),
                  page: "publishing",
                  ...(!isChainDown && { note: "latest block" }),
                  isBad: isChainDown,
                },
                {
                  label: "File stores",
                  value: chain.stores_answer ? "healthy" : "one fails",
                  page: "publishing",
                  isBad: !chain.stores_answer,
                },
              ]),
        ]}
      />
      {chain === null ? (
        <p>This service does not publish, because its configuration names no chain.</p>
      ) : (
        <p>
          The service publishes keys of the type {chain.key_type} in the <Term of="contract" />{" "}
          <Link href={explorer === null ? undefined : `${explorer}/address/${chain.contract}`}>
            <code title={chain.contract}>{shorten(chain.contract)}</code>
          </Link>
          . The <Term of="chain">chain</Term>’s state is according to one <Term of="endpoint" />.
          {(isChainDown || !chain.stores_answer) &&
            " The operator sees the failure, too. Published keys stay verifiable."}
        </p>
      )}
    </section>
  );
}

interface OverviewProps {
  overview: Overview;
  me: Me;
}
