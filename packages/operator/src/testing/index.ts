/** The API of `@keyroot/operator/testing`: a simulated beacon endpoint for tests with a local chain. */
export { SimulatedBeacon, type SimulatedBeaconOptions } from "./simulatedBeacon.ts";
export {
  committeeOf,
  simulateBootstrap,
  simulateHeader,
  simulateUpdate,
  testCommittee,
  type TestCommittee,
  type UpdateParts,
} from "./simulatedUpdates.ts";
export { TEST_CHECKPOINT } from "./testCheckpoint.ts";
