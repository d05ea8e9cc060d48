import type { Model } from "./linearizable.ts";

/** The calls about one user's key. Keys are named by their ids. */
export type KeyInput =
  | { call: "register"; keyID: string }
  /** `withdraw` by the user, `discard` by the partner. */
  | { call: "remove"; keyID: string }
  | { call: "read" };

/** `refused`: another key is registered. `unknown`: this key is not registered. `fixed`: it is submitted or published. */
export type KeyOutput =
  | { result: "registered"; state: KeyPhase }
  | { result: "refused" | "removed" | "unknown" | "fixed" | "challenge refused" }
  | { result: "read"; keyID: string | undefined; state: KeyPhase | "unregistered" };

/** The phases of a registered key, in their order. The publisher moves a key forward at any time. */
const PHASES = ["pending", "submitted", "published"] as const;
export type KeyPhase = (typeof PHASES)[number];

interface KeyState {
  keyID: string | undefined;
  phase: KeyPhase;
  /** The keys that were removed. */
  removed: ReadonlySet<string>;
}

/**
 * One user's key as a register, which is empty or contains one key. A key can be registered only if the register is
 * empty, and removed only while it is pending. The publisher moves the key forward through its states, never back.
 */
export const keyModel: Model<KeyState, KeyInput, KeyOutput> = {
  initial: { keyID: undefined, phase: "pending", removed: new Set() },
  keyOf: ({ keyID, phase, removed }) => `${keyID} ${phase} ${[...removed].sort().join()}`,
  step(state, input, output) {
    return futures(state).flatMap((now) =>
      effects(now, input).flatMap(([next, allowed]) => (output === undefined || allowed(output) ? [next] : [])),
    );
  },
};

/** Returns the state itself, and the states to which a publisher may move the key first. */
function futures(state: KeyState): KeyState[] {
  if (state.keyID === undefined) return [state];
  return PHASES.slice(PHASES.indexOf(state.phase)).map((phase) => ({ ...state, phase }));
}

type Effect = readonly [next: KeyState, allows: (output: KeyOutput) => boolean];

/** Returns the possible effects of a call, each with the results that it allows. */
function effects(state: KeyState, input: KeyInput): readonly Effect[] {
  const { keyID, phase, removed } = state;
  const isState = (output: KeyOutput) => "state" in output && output.state === phase;
  switch (input.call) {
    case "read":
      return [
        [
          state,
          (output) =>
            output.result === "read" &&
            output.keyID === keyID &&
            (keyID === undefined ? output.state === "unregistered" : isState(output)),
        ],
      ];
    case "register": {
      // A challenge can be used once, so a response may be refused although the register is empty.
      const unchanged: Effect = [state, ({ result }) => result === "challenge refused" && keyID === undefined];
      if (keyID === undefined)
        return [
          unchanged,
          [
            { ...state, keyID: input.keyID, phase: "pending" },
            ({ result, ...rest }) => result === "registered" && "state" in rest && rest.state === "pending",
          ],
        ];
      if (keyID === input.keyID) return [[state, (output) => output.result === "registered" && isState(output)]];
      return [[state, ({ result }) => result === "refused"]];
    }
    case "remove":
      if (keyID === input.keyID)
        return phase === "pending"
          ? [
              [
                { ...state, keyID: undefined, removed: new Set([...removed, keyID]) },
                ({ result }) => result === "removed",
              ],
            ]
          : [[state, ({ result }) => result === "fixed"]];
      // A repeated removal succeeds while the user has no key. Later events may end that.
      return [
        [
          state,
          ({ result }) =>
            result === "unknown" || (result === "removed" && keyID === undefined && removed.has(input.keyID)),
        ],
      ];
  }
}
