/**
 * Measures what it costs to store when tokens were last used: the share of the exchange rate, at worst. Each token is used for
 * the first time in this hour. In the rounds without it, its use was stored before.
 */
import { runAt, startPostgres } from "../fixtures/postgres/postgres.ts";
import { startChild } from "../fixtures/childProcess.ts";
import { serviceEnvironment } from "../fixtures/service/serviceProcess.ts";
import { median, report, round, SMALL } from "./runner/report.ts";
import { startKeyroot } from "./service/keyroot.ts";
import type { Measured, Plan } from "./service/load.ts";

/** Many, because the rate of one round differs from the next one's by more than the cost. */
const ROUNDS = SMALL ? 1 : 15;
const SECONDS = SMALL ? 1 : 4;
const TOKENS = SMALL ? 64 : 10_000;
const CLIENTS = 32;
const CONNECTIONS = 64;
const GOAL = 0.05;

await using cleanup = new AsyncDisposableStack();
const postgres = await startPostgres({ fsync: true, settings: { shared_buffers: "512MB", max_wal_size: "4GB" } });
cleanup.defer(() => postgres.stop());
const environment = await serviceEnvironment(postgres, CONNECTIONS);
const load = cleanup.use(startChild<Plan, Measured>(new URL("service/load.ts", import.meta.url)));
const { exchange } = await startKeyroot(cleanup, environment, TOKENS);
const plan = { origin: exchange.origin, requests: [exchange.requests], connections: CLIENTS, seconds: SECONDS };
// Until Node.js has optimized its code.
await load.send(plan);

const hour = Math.floor(Date.now() / 3_600_000) * 3_600_000;
const known: number[] = [];
const stored: number[] = [];
const costs: number[] = [];
for (let i = 0; i < ROUNDS; i++) {
  const isFirst = i % 2 === 0;
  const before = isFirst ? await exchangeAll("NULL") : undefined;
  const without = await exchangeAll(String(hour + 3_600_000));
  const storing = before ?? (await exchangeAll("NULL"));
  known.push(without);
  stored.push(storing);
  costs.push(1 - storing / without);
}
const storedPerSecond = median(stored);
report({
  figures: {
    lastUse: {
      what: `exchanges per second of ${TOKENS} tokens, ${CLIENTS} clients, median of ${ROUNDS} paired rounds of ${SECONDS} s: each token's use is stored, or was stored before; ${postgres.version}, fsync on`,
      rows: [
        {
          ...{ stored: storedPerSecond, known: median(known), cost: round(median(costs)) },
          tokensPerExchange: round(Math.min(1, TOKENS / (storedPerSecond * SECONDS))),
        },
      ],
    },
  },
  ratios: [
    {
      what: "share of the exchange rate that storing the last use of tokens costs",
      ...{ value: round(median(costs)), atMost: GOAL },
    },
  ],
});

/** Exchanges for some seconds, after every token was used at a time. @returns how often per second */
async function exchangeAll(lastUsed: string): Promise<number> {
  await runAt(environment.DATABASE_URL, `UPDATE user_tokens SET last_used = ${lastUsed}`);
  await runAt(environment.DATABASE_URL, "VACUUM user_tokens");
  // Stored a second after the first use: the round includes it.
  const { errors, perSecond } = await load.send(plan);
  if (Object.keys(errors).length > 0) throw new Error(`There were errors: ${JSON.stringify(errors)}.`);
  return perSecond;
}
