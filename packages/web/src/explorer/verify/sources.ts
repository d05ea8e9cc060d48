import type { Evidence } from "keyroot";
import { plural } from "../../shared/format.ts";
import { config, hostOf } from "../shared/config.ts";
import type { Options } from "../worker/messages.ts";

/** The names of the sources for a block's hash. */
type SourceName = "endpoint" | "quorum" | "auditors" | "beacon" | "pinned";

/** The evidence that the visitor requires. */
export interface EvidenceChoice {
  anchor: SourceName;
  /** The URL of the endpoint. A quorum uses all endpoints instead. */
  endpoint: string;
  /** Minimum number of endpoints that must agree. */
  quorum: number;
  pinned: string;
  storageProof: boolean;
}

/** A source for the block's hash, with the source's texts and options. */
interface BlockSource {
  name: SourceName;
  label: string;
  caption: string;
  /** Explains the source in one sentence. @param endpoints the URLs of all endpoints */
  hint: (endpoints: readonly string[]) => string;
  /** Whether the visitor can choose the source. @param count the number of endpoints */
  isPossible: (count: number) => boolean;
  /** Whether the visitor must enter a value. Such a source cannot be the default. */
  needsInput?: boolean;
  /** Whether the source requires a storage proof. */
  needsProof?: boolean;
  optionsOf: (choice: EvidenceChoice, endpoints: readonly string[]) => Partial<Options>;
  /**
   * Describes the evidence for a root that was read with this source. The text follows the words "This rests on" and
   * ends with a period.
   */
  restsOn: (evidence: Omit<Evidence, "anchor">, options: Options) => string;
  /** Names the systems on which the block's hash relies. The text ends with a period. */
  relies: (options: Options, evidence?: Partial<Evidence>) => string;
}

/** All sources, weakest first. To add a source, add one entry to this list and one name to `SourceName`. */
export const SOURCES: readonly BlockSource[] = [
  {
    name: "endpoint",
    label: "One endpoint",
    caption: "one endpoint",
    hint: () => "The latest block of the endpoint below, as its unproven answer.",
    isPossible: () => true,
    optionsOf: ({ endpoint }) => ({ rpc: endpoint }),
    restsOn: ({ storageProof }, options) =>
      storageProof
        ? `one endpoint’s unproven answer, from ${hostsOf(options)}. It chose the block itself, so the storage proof adds little.`
        : `one endpoint’s unproven answer, from ${hostsOf(options)}. Choose stronger evidence if you can.`,
    relies: (options) =>
      `one endpoint’s unproven answer, from ${hostsOf(options)}. This page cannot detect a false answer about the chain.`,
  },
  {
    name: "quorum",
    label: "Several endpoints",
    caption: "endpoints agree",
    hint: ({ length }) => `A block and an answer on which enough of ${length} endpoints agree.`,
    isPossible: (count) => count > 1,
    optionsOf: ({ quorum }, endpoints) => ({ rpc: [...endpoints], quorum }),
    restsOn: ({ storageProof, agreeing = 0 }) =>
      `the agreement of ${agreeing} endpoints on the block${storageProof ? ", with a storage proof under it" : " and on the root"}. It is wrong only if they all give the same false answer.`,
    relies: (options, { agreeing = options.quorum ?? 0 } = {}) =>
      `that ${plural(agreeing, "endpoint")} do not all give the same false answer: ${hostsOf(options)}.`,
  },
  {
    name: "auditors",
    label: "Auditors",
    caption: "auditors",
    hint: () => {
      const { keys = [], threshold } = config.auditors ?? {};
      return `A block that ${threshold} of these auditors signed: ${keys.map(nameOf).join(", ")}.`;
    },
    isPossible: () => config.auditors !== undefined,
    needsProof: true,
    optionsOf: ({ endpoint }) => ({ rpc: endpoint, auditors: config.auditors }),
    restsOn: ({ auditors = [] }) =>
      `a block that ${plural(auditors.length, "auditor")} signed (${auditors.map(nameOf).join(", ")}), with a storage proof under it. It is wrong only if they all sign a false block.`,
    relies: ({ auditors }) =>
      `that ${plural(auditors?.threshold ?? 0, "auditor")} of this page’s list do not sign a false block together.`,
  },
  {
    name: "beacon",
    label: "Ethereum’s light client",
    caption: "light client",
    hint: () => "The newest final block, which two thirds of Ethereum’s sync committee signed.",
    isPossible: () => config.beacon !== undefined,
    needsProof: true,
    optionsOf: ({ endpoint }) => ({ rpc: endpoint, beacon: config.beacon }),
    restsOn: ({ beacon }) =>
      beacon?.participation === 0
        ? "the checkpoint in this page’s configuration, with a storage proof under its block."
        : `a block that ${beacon?.participation} of the 512 members of Ethereum’s sync committee signed, with a storage proof under it. It is wrong only if they sign a false block together, or if this page’s checkpoint is false.`,
    relies: ({ beacon }) =>
      `Ethereum’s sync committees, from the checkpoint ${beacon?.checkpoint} in this page’s configuration on. No server can forge their signatures.`,
  },
  {
    name: "pinned",
    label: "A block that I trust",
    caption: "trusted block",
    hint: () => "You enter the block’s hash, from your own node or from someone you trust.",
    isPossible: () => true,
    needsInput: true,
    optionsOf: ({ endpoint, pinned }) => ({ rpc: endpoint, pinned }),
    restsOn: ({ storageProof }, options) =>
      storageProof
        ? "a storage proof under the block hash that you entered. It is as reliable as your source of that hash."
        : `one endpoint’s unproven answer, from ${hostsOf(options)}, about the block whose hash you entered. Require a storage proof for a proven answer.`,
    relies: () => "the source of the block hash that you entered.",
  },
];

export function sourceNamed(wanted: Evidence["anchor"]): BlockSource {
  const source = SOURCES.find(({ name }) => name === wanted);
  if (source === undefined) throw new Error(`This page has no source “${wanted}”.`);
  return source;
}

export function sourceOf({ quorum, pinned, auditors, beacon }: Options): BlockSource {
  if (quorum !== undefined) return sourceNamed("quorum");
  if (pinned !== undefined) return sourceNamed("pinned");
  return sourceNamed(auditors ? "auditors" : beacon ? "beacon" : "endpoint");
}

/** Returns the hosts of the endpoints in a verification's options. */
export function hostsOf({ rpc }: Pick<Options, "rpc">): string {
  return (typeof rpc === "string" ? [rpc] : rpc).map(hostOf).join(", ");
}

/** Returns the auditor's name in an auditor's key. The key has the form `<name>+<id>+<key>`. */
function nameOf(key: string): string {
  return key.replace(/\+.*/, "");
}
