/** `@keyroot/operator/testing`: a simulated beacon endpoint, for tests against a local chain. */
export { SimulatedBeacon, type SimulatedBeaconOptions, TEST_CHECKPOINT } from "./simulatedBeacon.ts";
export {
  committeeOf,
  simulateBootstrap,
  simulateHeader,
  simulateUpdate,
  testCommittee,
  type TestCommittee,
  type UpdateParts,
} from "./simulatedUpdates.ts";
