import { withResolvers } from "../../engine/language.ts";
import { type KeyrootError, VerificationError } from "../../errors.ts";
import { MAX_TIMEOUT_MS } from "../../input/options.ts";
import { recoverable, withTimeout } from "../../transport/timeout.ts";
import { BeaconEndpoint, type HttpOptions } from "./beaconEndpoint.ts";
import { type Layouts, toNumber } from "./forks.ts";
import type { BeaconNetwork } from "./networks.ts";
import { applyUpdate, latestSlot, type LightClientState, periodOf, slotAt, startAt, timeOf } from "./rules.ts";
import { malformed } from "./ssz.ts";

/** A container that changed the state, with the slot of its first header. */
interface Accepted {
  kind: keyof Layouts;
  slot: number;
  value: object;
}

/** The checked options of a trusted checkpoint. */
interface CheckpointConfig {
  network: BeaconNetwork;
  /** The root of the trusted beacon block: 0x and 64 lowercase hex digits. */
  checkpoint: string;
  maxCheckpointAgeMs: number;
  /** Returns the current time in ms since 1970. */
  now: () => number;
}

/** The settings and the current state of a light client. */
export interface Following extends CheckpointConfig {
  /**
   * The URLs of the Beacon API endpoints, in the order in which they are used. `follow` moves the endpoint that
   * answered to the front.
   */
  urls: string[];
  /** The current state of the light client. Undefined before the first bootstrap. */
  state: LightClientState | undefined;
  /** The containers that led from the first state to `state`, in order. */
  accepted?: readonly Accepted[];
}

/** Maximum number of updates in a response (`MAX_REQUEST_LIGHT_CLIENT_UPDATES`). */
const MAX_UPDATES = 128;
/**
 * Maximum age of a finalized header in ms. Blocks become final after about 15 minutes. An endpoint whose header is
 * older than this limit is therefore behind, and the light client tries the next endpoint.
 */
const LATE_MS = 3_600_000;
/** The time in ms after which the next endpoint is also asked, if the earlier ones have not finished. */
const HEAD_START_MS = 1000;

/**
 * Follows the chain to the newest finalized header. Each endpoint has a head start of 1 second or less. If it fails or
 * has not finished by then, the next endpoint is asked, too. The first recent header ends the search, so an endpoint
 * that does not respond delays the result only by its head start.
 *
 * Even after an error, `following.state` contains a state that the rules accept, and the next attempt continues from
 * this state. A dishonest or broken endpoint can therefore only delay the result.
 * @throws VerificationError CHECKPOINT_TOO_OLD, LIGHT_CLIENT_INVALID, FUTURE_BLOCK, step "anchor"
 * @throws TransportError FORK_UNKNOWN, BEACON_ERROR, BEACON_ANSWER_INVALID, or an error of `fetchBytes`
 */
export async function follow(following: Following, http: HttpOptions): Promise<LightClientState> {
  const { urls, network, now } = following;
  const waiting = [...urls];
  const headStartMs = Math.min(HEAD_START_MS, http.timeoutMs / (urls.length + 1));
  const errors: KeyrootError[] = [];
  let running = 0;
  const answered: string[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const race = (signal: AbortSignal) => {
    const { promise, resolve, reject } = withResolvers<undefined>();
    const ask = async (url: string) => {
      const endpoint = new BeaconEndpoint(url, network, { ...http, signal });
      try {
        const { slot } = await followEndpoint(following, endpoint);
        answered.push(url);
        if (now() - timeOf(network, slot) > LATE_MS) return;
        urls.unshift(...urls.splice(urls.indexOf(url), 1));
        resolve(undefined);
      } catch (error) {
        const failure = endpoint.explain(recoverable(error));
        if (failure.code === "CHECKPOINT_TOO_OLD") throw failure;
        errors.push(failure);
      }
    };
    const askNext = () => {
      clearTimeout(timer);
      const [url] = waiting.splice(0, 1);
      if (url === undefined) {
        if (running === 0) resolve(undefined);
        return;
      }
      running++;
      timer = setTimeout(askNext, headStartMs);
      ask(url).then(() => {
        running--;
        if (!signal.aborted) askNext();
      }, reject);
    };
    askNext();
    return promise;
  };
  try {
    // The requests have time limits of their own, so this call only ends those to the other endpoints.
    await withTimeout("The light client", MAX_TIMEOUT_MS, http.signal, race);
  } finally {
    clearTimeout(timer);
  }
  if (answered.length > 0 && following.state !== undefined) return following.state;
  const [forgery] = errors.filter((error) => error instanceof VerificationError);
  throw forgery ?? errors[0] ?? new RangeError("There is no endpoint.");
}

/**
 * Follows the chain with one endpoint. If there is no state yet, the bootstrap is requested first. Then come the
 * updates of past periods, and finally the newest finality update.
 */
async function followEndpoint(following: Following, endpoint: BeaconEndpoint): Promise<LightClientState> {
  const { network, checkpoint, now } = following;
  let { state, accepted = [] } = following;
  const accept = (next: LightClientState, kind: keyof Layouts, slot: number, value: object) => {
    state = next;
    accepted = [...accepted, { kind, slot, value }];
    if (!isAhead(next, following.state)) return;
    following.state = next;
    following.accepted = accepted;
  };
  if (state === undefined) {
    const bootstrap = await endpoint.fetchBootstrap(checkpoint);
    state = startAt(network, checkpoint, bootstrap);
    checkAge(following, state);
    accept(state, "bootstrap", state.slot, bootstrap);
  }
  const currentSlot = latestSlot(network, now());
  const lastPeriod = periodOf(network, slotAt(network, now())) - 1;
  for (;;) {
    const before: LightClientState = state;
    const start = periodOf(network, state.slot) + (state.next === undefined ? 0 : 1);
    if (start > lastPeriod) break;
    for (const update of await endpoint.fetchUpdates(start, Math.min(lastPeriod - start + 1, MAX_UPDATES))) {
      const next = applyUpdate(network, state, update, currentSlot);
      if (next !== undefined) accept(next, "update", toNumber(update.attested_header.beacon.slot), update);
    }
    if (state === before) throw malformed("its updates contain nothing new");
  }
  const update = await endpoint.fetchFinalityUpdate();
  const newest = applyUpdate(network, state, update, currentSlot);
  if (newest !== undefined) accept(newest, "finality_update", toNumber(update.attested_header.beacon.slot), update);
  return state;
}

/** Checks whether a state is newer than another state, or knows the next committee in addition. */
function isAhead(state: LightClientState, other: LightClientState | undefined): boolean {
  if (other === undefined || state.slot > other.slot) return true;
  return state.slot === other.slot && state.next !== undefined && other.next === undefined;
}

/**
 * Checks whether a state is too old. An old state is not safe, because members who have left its committee may have
 * sold their keys since.
 */
export function isTooOld({ network, maxCheckpointAgeMs, now }: CheckpointConfig, { slot }: LightClientState) {
  return now() - timeOf(network, slot) > maxCheckpointAgeMs;
}

/** Rejects a state that is too old. @throws VerificationError CHECKPOINT_TOO_OLD, step "anchor" */
export function checkAge(config: CheckpointConfig, state: LightClientState): void {
  if (!isTooOld(config, state)) return;
  const { checkpoint, maxCheckpointAgeMs: expected, network } = config;
  const time = new Date(timeOf(network, state.slot)).toISOString();
  const clock = new Date(config.now()).toISOString();
  const message = `The checkpoint ${checkpoint} is from ${time}, and this device's clock shows ${clock}. The maximum age is ${expected / 86_400_000} days. Check the clock. If it is right, use a newer checkpoint from a source that you trust, or increase maxCheckpointAgeMs.`;
  throw new VerificationError("anchor", "CHECKPOINT_TOO_OLD", message, { expected, actual: time });
}
