import { type Measured, type Ratio, round, type Row } from "../runner/report.ts";

type Rates = Record<string, number>;
/** The medians by number of clients and by server. */
type ByClients = Record<number, Record<string, Rates>>;
interface OpenLoop {
  rate: number;
  p50: number;
  p99: number;
  errors: Record<string, number>;
}

/** The figures of `bench/service.ts`, for each server and number of clients, and for both operations at a fixed rate. */
export interface ServiceFigures {
  database: string;
  closedLoop: { what: string; exchange: ByClients; creation: ByClients };
  openLoop: { what: string; exchange: OpenLoop; creation: OpenLoop };
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
const CREATION_GOALS: Rates = { 10: 0.9, 32: 1.4, 64: 1.4 };
const P99_GOAL_MS = 40;

export function measuredOf({ closedLoop, openLoop, database }: ServiceFigures): Measured {
  const { exchange, creation } = closedLoop;
  const loops = { exchange: openLoop.exchange, creation: openLoop.creation };
  return {
    figures: {
      exchange: { what: `token exchange; ${closedLoop.what}; ${database}`, rows: rowsOf(exchange) },
      creation: { what: `creation of users; ${closedLoop.what}`, rows: rowsOf(creation) },
      openLoop: {
        what: openLoop.what,
        rows: Object.entries(loops).map(([operation, { errors, ...figures }]) => {
          return { operation, ...numbersIn(figures), errors: sum(errors) };
        }),
      },
    },
    ratios: [
      ...ratiosOf("token exchange", exchange, "oidcProviderJwt", (clients) => EXCHANGE_GOALS[clients]),
      ...ratiosOf("creation of users", creation, "pgbench", (clients) => CREATION_GOALS[clients]),
      ...Object.entries(loops).flatMap(([operation, { p99, errors }]) => [
        { what: `${operation} at a fixed rate: ms of which 99 % are within`, value: p99, atMost: P99_GOAL_MS },
        { what: `${operation} at a fixed rate: errors`, value: sum(errors), atMost: 0 },
      ]),
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

function numbersIn(figures: object): Record<string, number> {
  return Object.fromEntries(Object.entries(figures).filter(([, value]) => typeof value === "number"));
}

function sum(counts: Record<string, number>): number {
  return Object.values(counts).reduce((a, b) => a + b, 0);
}
