import type { Evidence } from "keyroot";
import { hostOf } from "../shared/config.ts";
import type { Options } from "../worker/messages.ts";

/** The sources of a block's hash that this page offers. */
type SourceName = "endpoint" | "quorum" | "pinned";

/** The evidence that the visitor requires. */
export interface EvidenceChoice {
  anchor: SourceName;
  /** The endpoint's URL. A quorum uses all endpoints instead. */
  endpoint: string;
  /** Minimum number of endpoints that agree. */
  quorum: number;
  pinned: string;
  storageProof: boolean;
}

/** A source of the block's hash, with everything that this page says and does about it. */
interface BlockSource {
  name: SourceName;
  label: string;
  /** The meaning of the choice, in one sentence. @param endpoints the URLs of all endpoints */
  hint: (endpoints: readonly string[]) => string;
  /** Whether the visitor can choose it. */
  isPossible: (endpoints: readonly string[]) => boolean;
  /** Whether it works without an input of the visitor, so that it can be the default. */
  isConfigured: (endpoints: readonly string[]) => boolean;
  optionsOf: (choice: EvidenceChoice, endpoints: readonly string[]) => Partial<Options>;
  /** What a root rests on that was read with this source, after "This rests on". Ends with a period. */
  restsOn: (evidence: Pick<Evidence, "storageProof" | "agreeing">, options: Pick<Options, "rpc">) => string;
}

/** All sources, the weakest first. A new source is one more entry, and a name in `SourceName`. */
export const SOURCES: readonly BlockSource[] = [
  {
    name: "endpoint",
    label: "One endpoint",
    hint: () => "The latest block of the endpoint below, as its unproven answer.",
    isPossible: () => true,
    isConfigured: () => true,
    optionsOf: ({ endpoint }) => ({ rpc: endpoint }),
    restsOn: ({ storageProof }, options) =>
      storageProof
        ? `one endpoint’s unproven answer, from ${hostsOf(options)}. It chose the block itself, so the storage proof adds little.`
        : `one endpoint’s unproven answer, from ${hostsOf(options)}. Choose stronger evidence if you can.`,
  },
  {
    name: "quorum",
    label: "Several endpoints",
    hint: (endpoints) =>
      endpoints.length < 2
        ? "Needs at least two endpoints. This explorer has one."
        : `A block and an answer on which enough of ${endpoints.length} endpoints agree.`,
    isPossible: (endpoints) => endpoints.length > 1,
    isConfigured: (endpoints) => endpoints.length > 1,
    optionsOf: ({ quorum }, endpoints) => ({ rpc: [...endpoints], quorum }),
    restsOn: ({ storageProof, agreeing = 0 }) =>
      `the agreement of ${agreeing} endpoints on the block${storageProof ? ", with a storage proof under it" : " and on the root"}. It is wrong only if they all give the same false answer.`,
  },
  {
    name: "pinned",
    label: "A block that I trust",
    hint: () => "You enter the block’s hash, from your own node or from someone you trust.",
    isPossible: () => true,
    isConfigured: () => false,
    optionsOf: ({ endpoint, pinned }) => ({ rpc: endpoint, pinned }),
    restsOn: ({ storageProof }, options) =>
      storageProof
        ? "a storage proof under the block hash that you entered. It is as reliable as your source of that hash."
        : `one endpoint’s unproven answer, from ${hostsOf(options)}, about the block whose hash you entered. Require a storage proof for a proven answer.`,
  },
];

/** What a verified root rests on, without overstating it (docs/threat-model.md). */
export function restsOn({ anchor, ...evidence }: Evidence, options: Pick<Options, "rpc">): string {
  const source = SOURCES.find(({ name }) => name === anchor);
  return source?.restsOn(evidence, options) ?? `the source “${anchor}”.`;
}

function hostsOf({ rpc }: Pick<Options, "rpc">): string {
  return (typeof rpc === "string" ? [rpc] : rpc).map(hostOf).join(", ");
}
