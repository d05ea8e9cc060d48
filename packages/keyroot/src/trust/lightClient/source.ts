import { withTimeout } from "../../transport/timeout.ts";
import type { Store } from "../../store/store.ts";
import { VerificationError } from "../../errors.ts";
import type { EvidenceDetails } from "../../evidence.ts";
import type { BlockRequest, FoundBlock } from "../blockSource.ts";
import { follow, type Following, isTooOld } from "./follow.ts";
import type { LightClientState } from "./rules.ts";
import { parseState, serializeState, type StateOrigin } from "./state.ts";

export interface LightClientConfig extends Omit<Following, "state" | "now"> {
  /** The checkpoint's maximum age in ms. Undefined for the network's default. */
  callersMaxAgeMs: number | undefined;
  store: Store;
}

/** The fraction of a verification's time limit for one access to the store. */
const STORE_SHARE = 0.1;
/** A search for a block, which other verifiers with the same store wait for. */
interface Search extends Pick<BlockRequest, "now"> {
  config: LightClientConfig;
  block: Promise<FoundBlock>;
}

/** Each store's most recent search, until it ends. */
const running = new WeakMap<Store, Search>();

/**
 * Finds the newest finalized block that Ethereum's light-client protocol proves from a checkpoint. The search first
 * waits for earlier searches with the same store to end. Otherwise, two concurrent searches could replace a newer state
 * in the store with an older one. If the last of them had the same settings, its block is the result. An endpoint that
 * does not respond then delays all verifiers together only once.
 * @throws VerificationError LIGHT_CLIENT_INVALID, or an error of `follow`
 * @throws TransportError as `follow`
 */
export async function findLightClientBlock(config: LightClientConfig, request: BlockRequest): Promise<FoundBlock> {
  const { store } = config;
  const before = running.get(store);
  const isSame = before && request.now === before.now && isSameTrust(config, before.config);
  const find = async () => {
    // The other verifier's search may have failed because of its own time limit, or because the app aborted it.
    const found = await before?.block.catch(() => undefined);
    return isSame && found ? found : followAndStore(config, request);
  };
  const search: Search = { config, now: request.now, block: find() };
  running.set(store, search);
  try {
    return await search.block;
  } finally {
    if (running.get(store) === search) running.delete(store);
  }
}

/** Checks whether two searches trust the same checkpoint and use the same endpoints, in any order. */
function isSameTrust(a: LightClientConfig, b: LightClientConfig): boolean {
  const names = ["network", "checkpoint", "maxCheckpointAgeMs", "callersMaxAgeMs"] as const;
  return names.every((name) => a[name] === b[name]) && [...a.urls].sort().join() === [...b.urls].sort().join();
}

async function followAndStore(config: LightClientConfig, { http, now }: BlockRequest): Promise<FoundBlock> {
  const { network, checkpoint, maxCheckpointAgeMs, store } = config;
  const origin: StateOrigin = { network: network.genesisValidatorsRoot, checkpoint, maxCheckpointAgeMs };
  const name = `keyroot-beacon:${network.chainId}:${origin.network}`;
  /** Accesses the store. If it fails, the result is undefined, because the state can be fetched again. */
  const access = async <T>(work: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await withTimeout("The store", Math.ceil(http.timeoutMs * STORE_SHARE), undefined, async () => work());
    } catch {
      return undefined;
    }
  };
  const stored = parseState(await access(() => store.get(name)), origin);
  const following: Following = { ...config, now, state: undefined };
  if (stored !== undefined && !isTooOld(following, stored)) following.state = stored;
  const before = following.state;
  let state: LightClientState;
  try {
    state = await follow(following, http);
  } finally {
    const { state } = following;
    if (state !== undefined && state !== before) {
      const text = serializeState(state, origin);
      await access(() => store.set(name, text));
    }
  }
  const { blockHash: hash, details } = provenBy(state, config);
  return { hash, ...(state.block && { header: state.block }), endpoints: [], details };
}

/** A block that a light client verified. */
export interface ProvenBlock {
  /** The block hash: 0x and 64 lowercase hex digits. */
  blockHash: string;
  /** The checkpoint, slot and signatures behind the block, as in the evidence of `lightClient`. */
  details: EvidenceDetails;
}

/** Returns the execution block of a state. @throws VerificationError LIGHT_CLIENT_INVALID, step "anchor" */
export function provenBy(
  { slot, blockHash, participation }: LightClientState,
  { checkpoint, callersMaxAgeMs }: Pick<LightClientConfig, "checkpoint" | "callersMaxAgeMs">,
): ProvenBlock {
  if (blockHash === undefined)
    throw new VerificationError("anchor", "LIGHT_CLIENT_INVALID", "The finalized header has no execution block.");
  const age = callersMaxAgeMs === undefined ? {} : { maxCheckpointAgeMs: callersMaxAgeMs };
  return { blockHash, details: { checkpoint, slot, participation, ...age } };
}
