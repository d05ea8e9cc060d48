/** For programs that follow or simulate a beacon chain. */
export { publicKeysFrom, sign } from "../trust/lightClient/bls.ts";
export { follow, type Following } from "../trust/lightClient/follow.ts";
export {
  type Bootstrap,
  COMMITTEE,
  COMMITTEE_SIZE,
  type Committee,
  type ForkName,
  FORKS,
  type Layouts,
  type LightClientHeader,
  PAYLOAD_INDEX,
  rootOf,
  toNumber,
  type Update,
} from "../trust/lightClient/forks.ts";
export {
  applyUpdate,
  forkAt,
  type LightClientState,
  periodOf,
  signingRootOf,
  slotAt,
  startAt,
  timeOf,
} from "../trust/lightClient/rules.ts";
export { BEACON_NETWORKS, type BeaconNetwork, TEST_NETWORK } from "../trust/lightClient/networks.ts";
export { hashPair } from "../trust/lightClient/ssz.ts";
