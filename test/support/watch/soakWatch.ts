import { setTimeout as sleep } from "node:timers/promises";
import { type Alarm, type Contact, type Store, type Watch } from "keyroot";
import { makeBundle } from "keyroot/bundle";
import type { KeyRecord } from "keyroot/internal/identity";
import { sampleRecords, sha256 } from "../samples.ts";
import { seededRandom } from "../seededRandom.ts";
import { FaultyFetch } from "./faultyFetch.ts";
import type { WatchedChain } from "./watchedChain.ts";
import { verifierAt } from "../verifier/verifyOnce.ts";

export interface SoakOptions {
  rounds: number;
  seed: number;
  /** Replaces some of the latest blocks, if the chain can. */
  reorganize?: (() => Promise<void>) | undefined;
  onRound?: ((round: number) => void) | undefined;
}

export interface SoakResult {
  rounds: number;
  /** Number of rounds without an answer about any user. */
  unavailable: number;
  faults: number;
  kills: number;
  reorganizations: number;
  offline: number;
  hostDown: number;
  published: number;
  /** False alarms. All answers in these rounds were honest. */
  alarms: Alarm[];
  /** Number of false answers after the rounds, and number of false answers that raised their alarm. */
  lies: number;
  detected: number;
}

/** Number of faults per 1,000 requests. */
const FAULTS_PER_MILLE = 60;
const USERS = 13;
const LIES = 40;
/** Maximum rounds until a false answer is detected. Some rounds fail. */
const ROUNDS_PER_LIE = 30;

/**
 * Runs a watch over an honest but faulty network, with a simulated clock, and kills it repeatedly, between rounds and
 * during them. The server's answers change a contact's key until it is published, and the keys are published one after
 * the other. Then copies of the watch get false answers.
 */
export async function soakWatch(chain: WatchedChain, options: SoakOptions): Promise<SoakResult> {
  const { rounds, seed, reorganize, onRound } = options;
  const random = seededRandom(seed);
  const records = sampleRecords(USERS, seed) as [KeyRecord, ...KeyRecord[]];
  const [own, ...contacts] = records;
  const otherKeys = sampleRecords(USERS + 1, seed).slice(1);
  const published = new Set<string>();
  const publish = async (some: readonly KeyRecord[]) => {
    await chain.publish(some);
    for (const { userID } of some) published.add(userID);
  };
  await publish(contacts.slice(0, 4));

  let time = Date.UTC(2030, 0, 1);
  const network = new FaultyFetch(String(seed), FAULTS_PER_MILLE);
  const stored = new Map<string, string>();
  const result: SoakResult = {
    ...{ rounds, unavailable: 0, faults: 0, kills: 0, reorganizations: 0, offline: 0, hostDown: 0, published: 0 },
    ...{ alarms: [], lies: 0, detected: 0 },
  };
  /** The server's answer: the contacts with their keys. Some contacts change a key that is not published yet. */
  const serverContacts = (round: number): Contact[] =>
    contacts.map(({ userID, pubKey }, i) => {
      const changes = !published.has(userID) && random(`${round}:${userID}:key`, 2) === 0;
      return { userID, expectedPublicKey: (changes ? otherKeys[i]?.pubKey : undefined) ?? pubKey };
    });

  /** Starts the app: its watch, and the function that kills it. */
  const startApp = async (
    store: Map<string, string>,
    fetchContacts: () => Contact[],
    onAlarm: (alarm: Alarm) => void,
    via = network,
  ): Promise<{ watch: Watch; kill: () => void }> => {
    const killed = new AbortController();
    const { signal } = killed;
    const { rpc, chainId, contract, merkleUrl } = chain;
    const limits = { timeoutMs: 250 };
    const verifier = verifierAt({ rpc, chainId, contract, merkleUrl, limits, fetch: via.fetch, now: () => time });
    // A killed app writes nothing more, and shows nothing more.
    const ownStore: Store = {
      get: (name) => store.get(name),
      set: (name, text) => (signal.aborted ? undefined : store.set(name, text)),
    };
    const contactsOrFault = async () => {
      const fault = random(`${time}:contacts`, 20);
      if (fault === 0) throw new Error("The service is unavailable.");
      if (fault === 1) await sleep(30);
      return fetchContacts();
    };
    const show = (alarm: Alarm) => {
      if (!signal.aborted) onAlarm(alarm);
    };
    const watch = await verifier.watch({
      ...{ userID: own.userID, publicKey: own.pubKey, contacts: contactsOrFault },
      ...{ store: ownStore, makeBundle, onAlarm: show, signal },
    });
    return {
      watch,
      kill: () => {
        killed.abort();
      },
    };
  };

  let round = 0;
  const start = () =>
    startApp(
      stored,
      () => serverContacts(round),
      (alarm) => result.alarms.push(alarm),
    );
  let app = await start();
  let offlineUntil = 0;
  let hostDownUntil = 0;
  for (round = 1; round <= rounds; round++) {
    const event = (name: string, oneIn: number) => random(`${round}:${name}`, oneIn) === 0;
    time += event("sleep", 40)
      ? 3_600_000 * (1 + random(`${round}:hours`, 60))
      : 30_000 + random(`${round}:ms`, 30_000);
    if (event("clock", 200)) time -= 7_200_000;
    if (event("offline", 60)) offlineUntil = round + random(`${round}:offline for`, 12);
    if (event("host", 80)) hostDownUntil = round + random(`${round}:down for`, 40);
    network.isOffline = round < offlineUntil;
    network.isHostDown = round < hostDownUntil;
    if (network.isOffline) result.offline++;
    if (network.isHostDown) result.hostDown++;
    if (reorganize && event("reorganize", 50)) {
      await reorganize();
      result.reorganizations++;
    }
    const next = records.find(({ userID }) => !published.has(userID));
    if (next && round % Math.max(1, Math.floor(rounds / USERS)) === 0) {
      await publish([next]);
      result.published++;
    }
    const before = app.watch.status.checkedAt;
    const checking = app.watch.check().catch(() => undefined);
    if (event("kill", 15)) {
      await sleep(random(`${round}:kill after`, 40));
      app.kill();
      await checking;
      app = await start();
      result.kills++;
    } else if ((await checking)?.checkedAt === before) result.unavailable++;
    onRound?.(round);
  }
  app.kill();
  result.faults = Object.values(network.count).reduce((sum, count) => sum + count, 0);

  network.isOffline = network.isHostDown = false;
  for (let lie = 1; lie <= LIES; lie++) {
    const contact = contacts[random(`${lie}:contact`, contacts.length)] ?? own;
    const swapped = otherKeys.find(({ pubKey }) => pubKey !== contact.pubKey)?.pubKey;
    const lying = new FaultyFetch(`${seed}:lie:${lie}`, FAULTS_PER_MILLE);
    const root = [`0x${sha256(`${seed}:${lie}:root`)}`, `0x${"0".repeat(64)}`][lie % 2];
    const isSwap = lie % 4 < 2;
    if (!isSwap) {
      lying.lie = (_, call) =>
        call?.method === "eth_call" && JSON.stringify(call.params).includes("ee94c797")
          ? Response.json({ jsonrpc: "2.0", id: call.id, result: root })
          : undefined;
    }
    const keys = () =>
      contacts.map(({ userID, pubKey }) => ({
        userID,
        expectedPublicKey: (isSwap && userID === contact.userID ? swapped : undefined) ?? pubKey,
      }));
    const alarms: Alarm[] = [];
    const copy = await startApp(new Map(stored), keys, (alarm) => alarms.push(alarm), lying);
    const code = isSwap ? "CONTACT_KEY_MISMATCH" : "WATCHED_ROOT_CHANGED";
    const isDetected = () => alarms.some((alarm) => alarm.code === code);
    for (let attempt = 0; attempt < ROUNDS_PER_LIE && !isDetected(); attempt++) {
      time += 45_000;
      await copy.watch.check().catch(() => undefined);
    }
    copy.kill();
    result.lies++;
    if (isDetected()) result.detected++;
  }
  return result;
}
