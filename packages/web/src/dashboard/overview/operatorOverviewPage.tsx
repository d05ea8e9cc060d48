import type { AnswerOf } from "@keyroot/service";
import { formatCost, formatCount, plural, regionName } from "../../shared/format.ts";
import { Unloaded } from "../shared/cards.tsx";
import { useLoaded } from "../shared/useCall.ts";
import { Numbers, ToDo } from "./numbers.tsx";

type Status = AnswerOf<"/v1/dashboard/status/get">;

/** The operator's start page: failures, and numbers with links to pages. */
export function OperatorOverviewPage() {
  const { data, error, reload } = useLoaded("/v1/dashboard/status/get", {});
  return (
    <>
      <h1>Overview</h1>
      {data === undefined && (
        <Unloaded error={error} reload={reload}>
          Checking…
        </Unloaded>
      )}
      {data && (
        <>
          <ToDo items={failures(data)} />
          <section class="card" aria-labelledby="numbers-title">
            <h2 id="numbers-title">Service</h2>
            <Numbers
              items={[
                partsNumber("Databases", data.databases),
                ...(data.publishing === null ? [] : publishingNumbers(data.publishing)),
              ]}
            />
            {data.publishing === null && (
              <p>This service does not publish, because its configuration names no registry.</p>
            )}
          </section>
        </>
      )}
    </>
  );
}

function publishingNumbers({ chain, stores, publishable, running }: NonNullable<Status["publishing"]>) {
  const { state, chain_id } = chain;
  return [
    partsNumber("File stores", stores),
    {
      label: "Keys to publish",
      value: formatCount(publishable),
      page: "system",
      ...(running && { note: "in progress" }),
    },
    {
      label: `Chain ${chain_id}`,
      value: state === null ? "no answer" : formatCount(state.block),
      page: "system",
      ...(state !== null && { note: "latest block" }),
      isBad: state === null,
    },
    { label: "Owner’s balance", value: state === null ? "unknown" : formatCost(BigInt(state.balance)), page: "system" },
  ];
}

/** The number of parts that answer. */
function partsNumber(label: string, parts: readonly { error: string | null }[]) {
  const working = parts.filter(({ error }) => error === null).length;
  const value = `${formatCount(working)} of ${formatCount(parts.length)} ${parts.length === 1 ? "answers" : "answer"}`;
  return { label, value, page: "system", isBad: working < parts.length };
}

function failures({ databases, publishing }: Status): { text: string; page: string }[] {
  const all = [
    ...databases.map(({ name, error }) => ({ name: `The database ${name}`, error })),
    ...(publishing?.stores ?? []).map(({ region, error }) => ({
      name: `The file store in ${regionName(region)}`,
      error,
    })),
    ...(publishing
      ? [{ name: `The endpoint of chain ${publishing.chain.chain_id}`, error: publishing.chain.error }]
      : []),
  ];
  const failed = all.filter(({ error }) => error !== null);
  const differing = publishing?.differences.length ?? 0;
  return [
    ...failed.map(({ name, error }) => ({ text: `${name} fails: ${error ?? ""}.`, page: "system" })),
    ...(differing === 0
      ? []
      : [{ text: `The last check did not confirm ${plural(differing, "published root")}.`, page: "system" }]),
  ];
}
