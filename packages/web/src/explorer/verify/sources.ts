import type { Evidence } from "keyroot";
import { plural } from "../../shared/format.ts";
import { config, hostOf } from "../shared/config.ts";
import type { Options, TrustChoice } from "../worker/messages.ts";

/** The names of the sources for a block's hash. */
type SourceName = TrustChoice["name"];

/** How strong evidence is. Only proven evidence is shown in green. */
export type Strength = "one server" | "several servers" | "proven";
export const STRENGTHS: readonly Strength[] = ["one server", "several servers", "proven"];

/** The evidence that the visitor requires. */
export interface EvidenceChoice {
  source: SourceName;
  /** The URL of the endpoint. The source `endpoints` uses all endpoints instead. */
  endpoint: string;
  /** Minimum number of endpoints that must agree. */
  required: number;
  /** The hash of the block that the visitor trusts. */
  hash: string;
}

/** A source for the block's hash, with the source's texts and options. */
interface BlockSource {
  name: SourceName;
  label: string;
  caption: string;
  /** Explains the source in one sentence. @param endpoints the URLs of all endpoints */
  hint: (endpoints: readonly string[]) => string;
  /** How much an attacker must control to deceive the visitor: one server, several, or what proves the block. */
  strength: Strength;
  /** Whether the visitor can choose the source. @param count the number of endpoints */
  isPossible: (count: number) => boolean;
  /** Whether the visitor must enter a value. Such a source cannot be the default. */
  needsInput?: boolean;
  optionsOf: (choice: EvidenceChoice, endpoints: readonly string[]) => Pick<Options, "rpc" | "trust">;
  /**
   * Describes the evidence for a root that was read with this source. The text follows the words "This rests on" and
   * ends with a period.
   */
  restsOn: (evidence: Evidence, options: Options) => string;
  /** Names the systems on which the block's hash relies. The text ends with a period. */
  relies: (options: Options, evidence?: Partial<Evidence>) => string;
}

/** All sources, weakest first. To add a source, add one entry to this list and one name to `SourceName`. */
export const SOURCES: readonly BlockSource[] = [
  {
    name: "one-endpoint",
    label: "One endpoint",
    caption: "one endpoint",
    strength: "one server",
    hint: () => "The latest block of the endpoint below, as its unproven answer.",
    isPossible: () => true,
    optionsOf: ({ endpoint }) => ({ rpc: endpoint, trust: { name: "one-endpoint" } }),
    restsOn: (_, options) =>
      `one endpoint’s unproven answer, from ${hostsOf(options)}. Choose stronger evidence if you can.`,
    relies: (options) =>
      `one endpoint’s unproven answer, from ${hostsOf(options)}. This page cannot detect a false answer about the chain.`,
  },
  {
    name: "endpoints",
    label: "Several endpoints",
    caption: "endpoints agree",
    strength: "several servers",
    hint: ({ length }) => `A block and an answer on which enough of ${length} endpoints agree.`,
    isPossible: (count) => count > 1,
    optionsOf: ({ required }, endpoints) => ({ rpc: [...endpoints], trust: { name: "endpoints", required } }),
    restsOn: ({ details: { agreeing = 0 } = {} }) =>
      `the agreement of ${agreeing} endpoints on the block and on the root. It is wrong only if they all give the same false answer.`,
    relies: (options, { details: { agreeing = requiredBy(options) } = {} } = {}) =>
      `that ${plural(agreeing, "endpoint")} do not all give the same false answer: ${hostsOf(options)}.`,
  },
  {
    name: "auditors",
    label: "Auditors",
    caption: "auditors",
    strength: "proven",
    hint: () => {
      const { keys = [], threshold } = config.auditors ?? {};
      return `A block that ${threshold} of these auditors signed: ${keys.map(nameOf).join(", ")}.`;
    },
    isPossible: () => config.auditors !== undefined,
    optionsOf: ({ endpoint }) => ({ rpc: endpoint, ...withSettings("auditors", config.auditors) }),
    restsOn: ({ details: { auditors = [] } = {} }) =>
      `a block that ${plural(auditors.length, "auditor")} signed (${auditors.map(nameOf).join(", ")}), with a storage proof under it. It is wrong only if they all sign a false block.`,
    relies: () =>
      `that ${plural(config.auditors?.threshold ?? 0, "auditor")} of this page’s list do not sign a false block together.`,
  },
  {
    name: "light-client",
    label: "Ethereum’s light client",
    caption: "light client",
    strength: "proven",
    hint: () => "The newest final block, which two thirds of Ethereum’s sync committee signed.",
    isPossible: () => config.lightClient !== undefined,
    optionsOf: ({ endpoint }) => ({ rpc: endpoint, ...withSettings("light-client", config.lightClient) }),
    restsOn: ({ details: { participation } = {} }) =>
      participation === 0
        ? "the checkpoint in this page’s configuration, with a storage proof under its block."
        : `a block that ${participation} of the 512 members of Ethereum’s sync committee signed, with a storage proof under it. It is wrong only if they sign a false block together, or if this page’s checkpoint is false.`,
    relies: () =>
      `Ethereum’s sync committees, from the checkpoint ${config.lightClient?.checkpoint} in this page’s configuration on. No server can forge their signatures.`,
  },
  {
    name: "pinned-block",
    label: "A block that I trust",
    caption: "trusted block",
    strength: "proven",
    hint: () => "You enter the block’s hash, from your own node or from someone you trust.",
    isPossible: () => true,
    needsInput: true,
    optionsOf: ({ endpoint, hash }) => ({ rpc: endpoint, trust: { name: "pinned-block", hash } }),
    restsOn: () =>
      "a storage proof under the block hash that you entered. It is as reliable as your source of that hash.",
    relies: () => "the source of the block hash that you entered.",
  },
];

export function sourceNamed(wanted: Evidence["source"]): BlockSource {
  const source = SOURCES.find(({ name }) => name === wanted);
  if (source === undefined) throw new Error(`This page has no source “${wanted}”.`);
  return source;
}

export function sourceOf({ trust }: Options): BlockSource {
  return sourceNamed(trust.name);
}

/** Makes the choice of a source that needs settings. @throws Error if the page has no such settings */
function withSettings<Name extends "auditors" | "light-client">(
  name: Name,
  settings: Extract<TrustChoice, { name: Name }>["settings"] | undefined,
): Pick<Options, "trust"> {
  if (settings === undefined) throw new Error(`This page has no settings for “${name}”.`);
  return { trust: { name, settings } as TrustChoice };
}

function requiredBy({ trust }: Options): number {
  return trust.name === "endpoints" ? trust.required : 0;
}

/** Returns the hosts of the endpoints in a verification's options. */
export function hostsOf({ rpc }: Pick<Options, "rpc">): string {
  return (typeof rpc === "string" ? [rpc] : rpc).map(hostOf).join(", ");
}

/** Returns the auditor's name in an auditor's key. The key has the form `<name>+<id>+<key>`. */
function nameOf(key: string): string {
  return key.replace(/\+.*/, "");
}
