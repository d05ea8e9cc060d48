import type { Store } from "../../store/store.ts";
import type { RpcCall } from "../../transport/jsonRpc.ts";
import type { BlockRequest, FoundBlock } from "../blockSource.ts";
import { VerificationError } from "../../errors.ts";
import { isTooOld } from "./checkpointAge.ts";
import { follow, type Following } from "./follow.ts";
import { parseState, serializeState } from "./state.ts";

export interface LightClientConfig extends Omit<Following, "state" | "now"> {
  /** The checkpoint's maximum age in ms. Undefined for the network's default. */
  callersMaxAgeMs: number | undefined;
  store: Store;
}

type Found = Promise<FoundBlock>;

/** The search for each verification's block. All users of a contact list share this search. */
const found = new WeakMap<readonly RpcCall[], Found>();
/** Each store's most recent search for a block. */
const running = new WeakMap<Store, Found>();

/**
 * Finds the newest finalized block that Ethereum's light-client protocol proves from a checkpoint.
 * @throws the errors of `follow`; VerificationError LIGHT_CLIENT_INVALID
 */
export function findLightClientBlock(config: LightClientConfig, request: BlockRequest): Found {
  const block = found.get(request.calls) ?? findBlock(config, request);
  found.set(request.calls, block);
  return block;
}

/**
 * Finds a block after earlier searches with the same store have ended. If two searches ran at the same time, an older
 * state could replace a newer state.
 */
async function findBlock(config: LightClientConfig, request: BlockRequest): Found {
  const before = running.get(config.store);
  const block = (async () => {
    await before?.catch(() => undefined);
    return followAndStore(config, request);
  })();
  running.set(config.store, block);
  return block;
}

async function followAndStore(config: LightClientConfig, { http, now }: BlockRequest): Found {
  const { network, checkpoint, store, callersMaxAgeMs: maxCheckpointAgeMs } = config;
  const place = network.genesisValidatorsRoot;
  const name = `keyroot-beacon:${network.chainId}:${place}`;
  const stored = parseState(await store.get(name), place, checkpoint);
  const following: Following = { ...config, now, state: undefined };
  if (stored !== undefined && !isTooOld(following, stored)) following.state = stored;
  const before = following.state;
  try {
    await follow(following, http);
  } finally {
    const { state } = following;
    if (state !== undefined && state !== before) await store.set(name, serializeState(state, place, checkpoint));
  }
  const { slot, blockHash: hash, participation } = following.state ?? {};
  if (hash === undefined || slot === undefined || participation === undefined)
    throw new VerificationError("anchor", "LIGHT_CLIENT_INVALID", "The finalized header has no execution block.");
  const details = { checkpoint, slot, participation, ...(maxCheckpointAgeMs !== undefined && { maxCheckpointAgeMs }) };
  return { hash, endpoints: [], details };
}
