/**
 * Tries to register 10,000 keys that the registrant does not hold, in every way below, and measures what each refusal costs
 * the service, in comparison with an honest registration. Each attempt includes the challenge that it needs.
 *
 * `npm run bench:possession` prints the figures and writes them to bench/possession.json. `-- --quick` only prints those of
 * 200 attempts. Exit code 1 if a key was registered, or a refusal cost more than an honest registration.
 */
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import pMap from "p-map";
import { startPostgres } from "../fixtures/postgres/postgres.ts";
import { AppSession, FALSE_REGISTRATIONS } from "../fixtures/service/falseRegistrations.ts";
import { createPartner, serviceEnvironment, startServiceProcess } from "../fixtures/service/serviceProcess.ts";
import { openDatabases } from "@keyroot/operator/service";

const QUICK = process.argv.includes("--quick");
const PER_KIND = Math.ceil((QUICK ? 200 : 10_000) / Object.keys(FALSE_REGISTRATIONS).length);
/** Attempts per user, within the quota for curve arithmetic. */
const PER_USER = 3;
const CONCURRENCY = 4;

await using cleanup = new AsyncDisposableStack();
const postgres = await startPostgres({ fsync: true });
cleanup.defer(() => postgres.stop());
const environment = await serviceEnvironment(postgres, 16);
const service = cleanup.use(await startServiceProcess(environment));
const databases = cleanup.use(await openDatabases({ url: environment.DATABASE_URL }));
const partner = await createPartner(service.origin, environment.KEYROOT_ADMIN_TOKEN);
const openSessions = (count: number): Promise<AppSession[]> =>
  pMap(Array.from({ length: count }), () => AppSession.open(service.origin, partner, databases), { concurrency: 8 });
const registerAll = (sessions: readonly AppSession[]) =>
  pMap(
    sessions,
    async (session) => {
      const { status, body } = await session.registerHonestly(session.own);
      if (status !== 200) throw new Error(`An honest registration failed: ${JSON.stringify(body)}`);
    },
    { concurrency: CONCURRENCY },
  );

/** The processor time of the service per attempt, in µs. */
async function costOf(work: () => Promise<number>): Promise<number> {
  const before = await service.cpu();
  const attempts = await work();
  return Math.round(((await service.cpu()) - before) / attempts);
}

// Starts the threads, and compiles what is measured.
await registerAll(await openSessions(100));
const honestSessions = await openSessions(Math.min(PER_KIND, 500));
const honest = await costOf(async () => {
  await registerAll(honestSessions);
  return honestSessions.length;
});

const refusals: Record<string, { attempts: number; micros: number; codes: Record<string, number> }> = {};
let accepted = 0;
for (const [kind, prepare] of Object.entries(FALSE_REGISTRATIONS)) {
  process.stderr.write(`${kind}\n`);
  const attackers = await openSessions(Math.ceil(PER_KIND / PER_USER));
  const victims = await openSessions(attackers.length);
  const attempts = await pMap(attackers, async (attacker, i) => prepare({ attacker, victim: victims[i] ?? attacker }), {
    concurrency: CONCURRENCY,
  });
  const codes: Record<string, number> = {};
  const micros = await costOf(async () => {
    const repeat = async (attempt: (typeof attempts)[number]) => {
      for (let i = 0; i < PER_USER; i++) {
        const { status, body } = await attempt();
        const code = status === 200 ? "accepted" : String(body["code"]);
        codes[code] = (codes[code] ?? 0) + 1;
      }
    };
    await pMap(attempts, repeat, { concurrency: CONCURRENCY });
    return attempts.length * PER_USER;
  });
  const withKey = await pMap(attackers, (attacker) => attacker.hasKey(), { concurrency: CONCURRENCY });
  accepted += Math.max(codes["accepted"] ?? 0, withKey.filter(Boolean).length);
  refusals[kind] = { attempts: attempts.length * PER_USER, micros, codes };
}

const highest = Math.max(...Object.values(refusals).map(({ micros }) => micros));
const figures = {
  machine: `${cpus()[0]?.model ?? "unknown"}, ${cpus().length} cores, Node ${process.version}`,
  command: "npm run bench:possession",
  what: "processor time of the service in µs, all threads, per registration or attempt, challenge included",
  claims: {
    accepted: { measured: accepted, goal: 0 },
    attempts: Object.values(refusals).reduce((sum, { attempts }) => sum + attempts, 0),
    worstRefusal: { measured: Math.round((highest / honest) * 100) / 100, goal: 1, what: "relative to an honest one" },
  },
  honest,
  refusals,
};
process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
if (!QUICK) writeFileSync(new URL("possession.json", import.meta.url), `${JSON.stringify(figures, null, 2)}\n`);
if (accepted > 0 || highest > honest) process.exitCode = 1;
