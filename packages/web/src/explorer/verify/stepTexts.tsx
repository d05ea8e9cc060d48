import type { Evidence } from "keyroot";
import type { VerificationStep } from "keyroot/internal/errors";
import type { ComponentChildren } from "preact";
import { formatCount, plural, shorten } from "../../shared/format.ts";
import { Time } from "../../shared/time.tsx";
import { hostOf } from "../shared/config.ts";
import type { Options, Progress, VerificationOutcome } from "../worker/messages.ts";
import { hostsOf, sourceNamed, sourceOf } from "./sources.ts";
import { isAbsence } from "./useVerification.ts";

export interface StepText {
  title: string;
  /** Explains the step's terms to newcomers. */
  term: ComponentChildren;
  /** Describes the completed check. Undefined before the check. */
  checked: ComponentChildren;
  relies: ComponentChildren;
}

interface Context {
  source: "network" | { bundle: string };
  options: Options;
  progress: readonly Progress[];
  outcome: VerificationOutcome | undefined;
}

/** The titles of the steps in a verification over the network. */
export const TITLES: Readonly<Record<VerificationStep, string>> = {
  anchor: "Endpoint and block",
  root: "Root from the contract",
  file: "File",
  tree: "Merkle tree",
  record: "Record",
  key: "Key",
};

const TERMS: Readonly<Record<VerificationStep, ComponentChildren>> = {
  anchor: (
    <>
      A <dfn>blockchain</dfn> is a public record that many computers keep, written in <dfn>blocks</dfn>. An{" "}
      <dfn>endpoint</dfn> is a server that answers questions about it.
    </>
  ),
  root: (
    <>
      The <dfn>contract</dfn> is a program that nobody can change. It stores one <dfn>root</dfn>, a fingerprint of a
      whole list of keys, for each user. No account can change a stored root.
    </>
  ),
  file: <>The file lists the keys of many users. Any web host can serve it, because the root reveals every change.</>,
  tree: (
    <>
      A <dfn>hash</dfn> is a short fingerprint of data. A <dfn>Merkle tree</dfn> combines the hashes of all records in
      pairs until one is left: the root. If one record changes, the root changes.
    </>
  ),
  record: (
    <>
      A <dfn>record</dfn> is one line of the file: a user’s id, and the user’s key with its id.
    </>
  ),
  key: (
    <>
      Others use a <dfn>public key</dfn> to encrypt messages that only this user can read. Its <dfn>key id</dfn> is a
      short name for it.
    </>
  ),
};

/** Texts that differ for a bundle. A bundle is verified without servers. */
const BUNDLE_TEXTS: Readonly<Partial<Record<VerificationStep, { title: string; term: ComponentChildren }>>> = {
  anchor: {
    title: "Block",
    term: (
      <>
        A <dfn>blockchain</dfn> is a public record that many computers keep, written in <dfn>blocks</dfn>. A block’s{" "}
        <dfn>hash</dfn>, a short fingerprint, stands for everything in it.
      </>
    ),
  },
  file: {
    title: "Bundle",
    term: (
      <>The bundle contains the user’s key and the hashes that lead from it to the block. Anyone may have made it.</>
    ),
  },
};

export function stepText(step: VerificationStep, context: Context): StepText {
  const { outcome, source } = context;
  const evidence = outcome && ("verified" in outcome ? outcome.verified.evidence : outcome.failure.evidence);
  const texts = { title: TITLES[step], term: TERMS[step], ...(source === "network" ? {} : BUNDLE_TEXTS[step]) };
  switch (step) {
    case "anchor":
      return {
        ...texts,
        checked: anchorChecked(context, evidence),
        relies: (source === "network" ? sourceOf(context.options) : sourceNamed("pinned-block")).relies(
          context.options,
          evidence,
        ),
      };
    case "root":
      return { ...texts, ...rootText(context, evidence) };
    case "file":
      return { ...texts, ...fileText(context) };
    case "tree":
      return { ...texts, ...treeText(outcome) };
    case "record":
      return { ...texts, ...recordText(context) };
    case "key":
      return { ...texts, ...keyText(context) };
  }
}

function anchorChecked({ source, options, progress }: Context, evidence: Evidence | undefined): ComponentChildren {
  const requests = progress.filter(({ kind }) => kind === "request").length;
  const { block, details: { agreeing } = {} } = evidence ?? {};
  if (block === undefined) {
    if (source !== "network") return "The block’s header in the bundle has the hash that you entered.";
    return requests === 0
      ? undefined
      : `${hostsOf(options)} answered ${plural(requests, "question")} about the chain ${options.chainId}, at what it calls the latest block.`;
  }
  const at = (
    <>
      block {formatCount(block.number)} of <Time ms={block.timestamp * 1000} /> (<code>{shorten(block.hash)}</code>)
    </>
  );
  if (agreeing !== undefined) {
    return (
      <>
        {plural(agreeing, "endpoint")} of {options.rpc.length} agree on {at}. The hash was computed again from the
        block’s header.
      </>
    );
  }
  return <>The header of {at} was checked.</>;
}

function rootText({ options, outcome }: Context, evidence: Evidence | undefined) {
  const root = outcome && ("verified" in outcome ? outcome.verified.root : outcome.root);
  const contract = <code>{shorten(options.contract)}</code>;
  const checked = isAbsence({ outcome }) ? (
    <>The contract {contract} has no root for this user.</>
  ) : (
    root && (
      <>
        The contract {contract} has the root <code>{shorten(root)}</code> for this user.
      </>
    )
  );
  const { name } = options.trust;
  const isProven = evidence?.storageProof ?? !(name === "one-endpoint" || name === "endpoints");
  if (!isProven)
    return {
      checked,
      relies:
        name === "one-endpoint"
          ? `one endpoint’s unproven answer, from ${hostsOf(options)}.`
          : `the same answer of enough endpoints: ${hostsOf(options)}.`,
    };
  const relies = (
    <>
      the block above. A <dfn>storage proof</dfn>, a chain of hashes from the block to the contract’s data, supports the
      answer.
    </>
  );
  return { checked, relies };
}

function fileText({ source, options, progress }: Context) {
  if (source !== "network")
    return { checked: "The bundle has the right form.", relies: "no server. The other steps detect every change." };
  const received = progress.find(({ kind }) => kind === "received");
  const bytes = received && "bytes" in received ? received.bytes : undefined;
  const checked =
    bytes === undefined
      ? undefined
      : `${hostOf(options.merkleUrl)} sent ${formatCount(bytes)} bytes in the right form.`;
  return { checked, relies: "no server. The next step detects every change." };
}

function treeText(outcome: VerificationOutcome | undefined) {
  const relies = "the hash function SHA-256. No method is known that finds another list with the same root.";
  if (outcome === undefined) return { checked: undefined, relies };
  const path = "verified" in outcome ? outcome.verified.path : outcome.path;
  const users = path?.leafCount === undefined ? "the proof" : `all ${plural(path.leafCount, "record")}`;
  const result = "verified" in outcome || outcome.failure.step !== "tree" ? "It is the contract’s root." : "";
  return { checked: path && `The root was computed again in your browser from ${users}. ${result}`, relies };
}

function recordText({ source, outcome }: Context) {
  const relies = "the steps above.";
  if (outcome === undefined) return { checked: undefined, relies };
  const { path, uniqueness = source === "network" ? "checked" : "unchecked" } =
    "verified" in outcome ? outcome.verified : { path: outcome.path };
  const position = path?.index === undefined ? "" : ` It is number ${formatCount(path.index + 1)}.`;
  const checked =
    uniqueness === "checked"
      ? `Exactly one record belongs to this user.${position} Its key is well-formed, and the key id belongs to the key.`
      : "The record belongs to this user, and its key is well-formed. Only the whole file can show that there is no second record.";
  return { checked, relies };
}

function keyText({ options, outcome }: Context) {
  const isVerified = outcome !== undefined && "verified" in outcome;
  const given = options.expectedPublicKey !== undefined;
  const checked = !isVerified
    ? undefined
    : given
      ? "The key that the server sent is the published key."
      : "This key is published. It was not compared with another key. To compare one, paste it below.";
  return { checked, relies: "the steps above." };
}
