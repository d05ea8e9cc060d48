/**
 * Tries to register 10,000 keys that the registrant does not hold, in every way below, and measures what each refusal costs
 * the service, in comparison with an honest registration. Each attempt includes the challenge that it needs.
 * Exit code 1 if a key was registered.
 */
import pMap from "p-map";
import { startPostgres } from "../fixtures/postgres/postgres.ts";
import { AppSession, FALSE_REGISTRATIONS } from "../fixtures/service/falseRegistrations.ts";
import { createPartner, serviceEnvironment, startServiceProcess } from "../fixtures/service/serviceProcess.ts";
import { openDatabases } from "@keyroot/operator/service";
import { progress, report, round, SMALL } from "./runner/report.ts";

const ATTEMPTS = SMALL ? 19 : 10_000;
const PER_KIND = Math.ceil(ATTEMPTS / Object.keys(FALSE_REGISTRATIONS).length);
/** Attempts per user, within the quota for curve arithmetic. */
const PER_USER = SMALL ? 1 : 3;
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
await registerAll(await openSessions(SMALL ? 1 : 100));
const honestSessions = await openSessions(Math.min(PER_KIND, 500));
const honest = await costOf(async () => {
  await registerAll(honestSessions);
  return honestSessions.length;
});

const refusals: { attempt: string; attempts: number; micros: number; codes: string }[] = [];
let accepted = 0;
for (const [kind, prepare] of Object.entries(FALSE_REGISTRATIONS)) {
  progress(kind);
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
  const found = Object.keys(codes).join(", ");
  refusals.push({ attempt: kind, attempts: attempts.length * PER_USER, micros, codes: found });
}

const highest = Math.max(...refusals.map(({ micros }) => micros));
const attempts = refusals.reduce((sum, refusal) => sum + refusal.attempts, 0);
report({
  figures: {
    cost: {
      what: "µs of the service's processor time, all threads, per registration or attempt, challenge included",
      rows: [
        { attempt: "honest registration", attempts: honestSessions.length, micros: honest, codes: "" },
        ...refusals,
      ],
    },
  },
  ratios: [
    { what: `keys registered without their private key, in ${attempts} attempts`, value: accepted, atMost: 0 },
    {
      what: "the most expensive refusal, relative to an honest registration",
      value: round(highest / honest),
      atMost: 1,
    },
  ],
});
if (accepted > 0) process.exitCode = 1;
