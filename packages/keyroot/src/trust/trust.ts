import { invalidArgument } from "../input/options.ts";
import type { BlockSource, SourcePlace } from "./blockSource.ts";

/**
 * The app's choice of whom it trusts to name the block at which the contract is read. Make this value with a function
 * such as `endpoints` or `lightClient`, and pass it to `createVerifier` as the `trust` option.
 */
export interface Trust {
  readonly name: BlockSource["name"];
}

/** Makes the source of blocks for one registry, when a verifier is created. */
type OpenTrust = (place: SourcePlace) => Omit<BlockSource, "name">;

/** The `trust` values that this library made. `openTrust` rejects any other value, because it is not in this map. */
const choices = /* @__PURE__ */ new WeakMap<object, OpenTrust>();

/** Makes a `trust` value. The caller has checked its settings, except those that depend on the registry. */
export function makeTrust(name: Trust["name"], open: OpenTrust): Trust {
  const trust: Trust = Object.freeze({ name });
  choices.set(trust, open);
  return trust;
}

/**
 * Opens a `trust` value for a registry, and returns the source of its blocks.
 * @throws ArgumentError ARGUMENT_INVALID if this library did not make the value, or its settings do not fit the
 * registry
 */
export function openTrust(trust: Trust, place: SourcePlace): BlockSource {
  const open = choices.get(trust);
  if (open !== undefined) return { ...open(place), name: trust.name };
  throw invalidArgument("The trust option", "the result of this library's oneEndpoint() or another choice", trust);
}
