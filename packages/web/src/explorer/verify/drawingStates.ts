import type { VerificationStep } from "keyroot/internal/errors";
import { hostOf } from "../shared/config.ts";
import type { Failure, Options, TreePath } from "../worker/messages.ts";
import type { PastedKey } from "./pastedKey.ts";
import type { DrawingProps, NodeState, Part } from "./pathLayout.ts";
import { sourceOf } from "./sources.ts";
import { isAbsence, type StepState, type Verification } from "./useVerification.ts";

/** Converts a verification, and the comparison with a pasted key, to the properties of the drawing. */
export function drawingProps(
  verification: Verification,
  states: Readonly<Record<VerificationStep, StepState>>,
  pasted: PastedKey,
): DrawingProps {
  const { outcome, options, userID, source } = verification;
  const failure = outcome && "failure" in outcome ? outcome.failure : undefined;
  const path = outcome && ("verified" in outcome ? outcome.verified.path : outcome.path);
  const failed = failure && !isAbsence(verification) ? failedPart(failure, states) : undefined;
  const isKnown = path !== undefined;

  const part = (own: Part, step: VerificationStep, isDrawn = true): NodeState => {
    if (failed === own) return "bad";
    return states[step] === "passed" && isDrawn ? "good" : isDrawn && isKnown ? "plain" : "ghost";
  };
  const isCompared = pasted.state === "equal" || pasted.state === "different";
  const given: DrawingProps["given"] = isCompared
    ? { caption: `pasted ${pasted.what}`, text: pasted.text }
    : options.expectedPublicKey === undefined
      ? undefined
      : { caption: "server’s key", text: options.expectedPublicKey };
  const contractRoot = rootOf(verification);
  const isDifferent = pasted.state === "different" || failed === "key";
  const isEqual = isCompared ? pasted.state === "equal" : outcome !== undefined && "verified" in outcome;
  return {
    path,
    contractRoot,
    ...(source === "network"
      ? {
          endpoint: { caption: sourceOf(options).caption, text: endpointOf(options) },
          file: { caption: "file", text: hostOf(options.merkleUrl) },
        }
      : {
          endpoint: { caption: "block", text: options.trust.name === "pinned-block" ? options.trust.hash : "…" },
          file: { caption: "bundle", text: source.bundle },
        }),
    states: {
      endpoint: failed === "endpoint" ? "bad" : states.anchor === "passed" ? "good" : "plain",
      contract: failed === "contract" ? "bad" : states.root === "passed" ? "good" : "plain",
      file: failed === "file" ? "bad" : states.file === "passed" ? "good" : "plain",
      tree: treeStates(path, contractRoot, part("tree", "tree")),
      record: part("record", "record"),
      key: isKnown && failed === "key" ? "good" : part("key", "key"),
      given: isDifferent ? "bad" : isEqual ? "good" : "plain",
    },
    given,
    userID,
  };
}

/**
 * Returns the states of the tree's nodes, from the leaf to the root. In a forged file, the node that contradicts the
 * file is red. The computed root is red if it differs from the root in the contract.
 */
function treeStates(path: TreePath | undefined, contractRoot: string | null | undefined, state: NodeState) {
  const { failedLevel, nodes = [] } = path ?? {};
  return nodes.map(({ hash }, level): NodeState => {
    if (failedLevel === undefined) return state;
    const isWrongRoot = level === nodes.length - 1 && hash !== contractRoot;
    return level === failedLevel || isWrongRoot ? "bad" : "plain";
  });
}

function endpointOf({ rpc }: Options): string {
  return typeof rpc === "string" ? hostOf(rpc) : `${rpc.length} endpoints`;
}

function rootOf({ outcome }: Verification): string | null | undefined {
  if (outcome === undefined) return undefined;
  if ("verified" in outcome) return outcome.verified.root;
  return outcome.root ?? (outcome.failure.code === "NOT_PUBLISHED" ? null : undefined);
}

/** Returns the part of the drawing that shows a verification's failure. */
function failedPart({ code = "", step }: Failure, states: Readonly<Record<VerificationStep, StepState>>): Part {
  switch (code) {
    case "CHAIN_ID_MISMATCH":
    case "PROOF_INVALID":
      return "endpoint";
    case "LOOKUP_MISMATCH":
    case "USER_NOT_IN_FILE":
      return "record";
    case "DUPLICATE_VALUE":
    case "DUPLICATE_USER":
      return "tree";
  }
  const failed =
    step ?? (Object.keys(states) as VerificationStep[]).find((name) => states[name] === "failed") ?? "anchor";
  return ({ anchor: "endpoint", root: "contract", file: "file", tree: "tree", record: "record", key: "key" } as const)[
    failed
  ];
}
