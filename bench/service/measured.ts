import { type Measured, type Ratio, round, type Row } from "../runner/report.ts";

type Rates = Record<string, number>;
/** The medians by number of clients and by server. */
type ByClients = Record<number, Record<string, Rates>>;
/** A run at a fixed rate. */
export interface OpenLoop {
  operation: string;
  /** The requests per second. */
  rate: number;
  p50: number;
  p99: number;
  errors: Record<string, number>;
  /** The slowest response of each second in which one took more than 50 ms. */
  slowSeconds?: Record<number, number>;
  /** What PostgreSQL did besides. */
  background: Record<string, number>;
}

/** The figures of `bench/service.ts`, for each server and number of clients, and for each operation at fixed rates. */
export interface ServiceFigures {
  database: string;
  closedLoop: { what: string; exchange: ByClients; creation: ByClients };
  openLoop: { what: string; runs: readonly OpenLoop[] };
}

const NAMES: Record<string, string> = {
  keyroot: "Keyroot",
  oidcProviderJwt: "oidc-provider, JWT",
  oidcProviderOpaque: "oidc-provider, opaque",
  pgbench: "pgbench",
  pgbenchOneCommit: "pgbench, one commit",
  pgbenchWithoutRecords: "pgbench, without audit entry and event",
};
/** The minimum speed relative to oidc-provider and to pgbench, by number of clients. */
const EXCHANGE_GOALS: Rates = { 10: 2.2, 32: 3, 64: 3 };
const CREATION_GOALS: Rates = { 10: 0.85, 32: 1.4, 64: 1.4 };
/** The time in ms within which 99 % of the responses must arrive, by rate. */
const P99_GOALS: Record<string, Rates> = { exchange: { 2000: 15, 4000: 35 }, creation: { 1000: 25 } };

export function measuredOf({ closedLoop, openLoop, database }: ServiceFigures): Measured {
  const { exchange, creation } = closedLoop;
  return {
    figures: {
      exchange: { what: `token exchange; ${closedLoop.what}; ${database}`, rows: rowsOf(exchange) },
      creation: { what: `creation of users; ${closedLoop.what}`, rows: rowsOf(creation) },
      openLoop: {
        what: openLoop.what,
        rows: openLoop.runs.map(({ errors, slowSeconds = {}, background, ...figures }) => {
          const slow = Object.entries(slowSeconds).map(([second, ms]) => `${second}: ${ms}`);
          return { ...figures, errors: sum(errors), ...background, slowSeconds: slow.join(", ") };
        }),
      },
    },
    ratios: [
      ...ratiosOf("token exchange", exchange, "oidcProviderJwt", (clients) => EXCHANGE_GOALS[clients]),
      ...ratiosOf("creation of users", creation, "pgbench", (clients) => CREATION_GOALS[clients]),
      ...openLoop.runs.flatMap(({ operation, rate, p99, errors }) => {
        const what = `${operation} at ${rate.toLocaleString("en")} per second`;
        const atMost = P99_GOALS[operation]?.[rate];
        return [
          {
            what: `${what}: ms within which 99 % of the responses arrive`,
            value: p99,
            ...(atMost !== undefined && { atMost }),
          },
          { what: `${what}: errors`, value: sum(errors), atMost: 0 },
        ];
      }),
    ],
  };
}

function rowsOf(figures: ByClients): Row[] {
  return Object.entries(figures).flatMap(([clients, contenders]) =>
    Object.entries(contenders).map(([by, rates]) => ({ clients: Number(clients), by: NAMES[by] ?? by, ...rates })),
  );
}

function ratiosOf(
  what: string,
  figures: ByClients,
  other: string,
  goalOf: (clients: string) => number | undefined,
): Ratio[] {
  return Object.entries(figures).map(([clients, contenders]) => {
    const perSecond = (name: string) => contenders[name]?.["perSecond"] ?? NaN;
    const atLeast = goalOf(clients);
    return {
      what: `${what} with ${clients} clients, times as fast as ${NAMES[other] ?? other}`,
      ...{ value: round(perSecond("keyroot") / perSecond(other)) },
      ...(atLeast !== undefined && { atLeast }),
    };
  });
}

function sum(counts: Record<string, number>): number {
  return Object.values(counts).reduce((a, b) => a + b, 0);
}
