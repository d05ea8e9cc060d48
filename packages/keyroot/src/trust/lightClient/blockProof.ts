import { base64ToBytes, bytesToBase64 } from "../../bytes/base64.ts";
import { bytesToHex } from "../../bytes/hex.ts";
import { KeyrootError, VerificationError } from "../../errors.ts";
import { parseDocument } from "../../input/document.ts";
import { ShapeChecker } from "../../input/shapeChecker.ts";
import { decodeSsz, type HttpOptions } from "./beaconEndpoint.ts";
import { checkAge, follow, type Following } from "./follow.ts";
import { type Layouts, rootOf } from "./forks.ts";
import { applyUpdate, forkAt, latestSlot, startAt } from "./rules.ts";
import type { BeaconNetwork } from "./networks.ts";
import { type LightClientConfig, provenBy, type ProvenBlock } from "./source.ts";

const FORMAT = "keyroot-block-proof-v1";
/**
 * The limits on the size and depth of a block proof. The size is enough for more than 200 committee periods, which are
 * 8 months.
 */
const LIMITS = { maxBytes: 2 ** 23, maxDepth: 3 };
const shape = /* @__PURE__ */ new ShapeChecker(
  (message, details) => new VerificationError("file", "BUNDLE_SHAPE", message, details),
);

/**
 * A proof that a beacon block is final. Readers who trust the checkpoint can verify it offline. Each part of the proof
 * is a light-client container in SSZ, encoded in base64.
 */
export interface BlockProof {
  format: typeof FORMAT;
  /** The chain id of the block (EIP-155). */
  chainId: number;
  /** The container with the checkpoint's header and sync committee. */
  bootstrap: string;
  /** One update per committee period, from the checkpoint's period to the block's period. */
  updates: string[];
  /** The update whose finalized header contains the block. Undefined if the last item of `updates` contains it. */
  finalityUpdate?: string | undefined;
}

/** Makes a proof of the newest finalized block. @throws the errors of `follow` */
export async function makeBlockProof(
  config: LightClientConfig,
  http: HttpOptions,
): Promise<ProvenBlock & { proof: BlockProof }> {
  const { network } = config;
  const proof: BlockProof = { format: FORMAT, chainId: network.chainId, bootstrap: "", updates: [] };
  const following: Following = { ...config, now: Date.now, state: undefined };
  const state = await follow(following, http);
  for (const { kind, slot, value } of following.accepted ?? []) {
    const layout: { encode(value: never): Uint8Array } = forkAt(network, slot).layouts[kind];
    const text = bytesToBase64(layout.encode(value as never));
    if (kind === "bootstrap") proof.bootstrap = text;
    else if (kind === "update") proof.updates.push(text);
    // A newer finality update from another endpoint replaces the earlier update.
    else proof.finalityUpdate = text;
  }
  return { proof, ...provenBy(state, config) };
}

/** Verifies a block proof. @throws the errors of `verifyBlockProof` of `keyroot/light-client` */
export function verifyBlockProof(
  source: unknown,
  config: Omit<LightClientConfig, "urls" | "store">,
  now: () => number,
): ProvenBlock {
  const { network, checkpoint } = config;
  const { chainId } = network;
  const proof = parseBlockProof(source);
  if (proof.chainId !== chainId) {
    const message = `The proof is for a block of the chain ${proof.chainId} instead of the chain ${chainId}.`;
    throw new VerificationError("root", "CHAIN_ID_MISMATCH", message, { expected: chainId, actual: proof.chainId });
  }
  const bootstrap = decode(network, "bootstrap", proof.bootstrap);
  const start = `0x${bytesToHex(rootOf(bootstrap.header))}`;
  if (start !== checkpoint) {
    const message = `The proof begins at the checkpoint ${start}, but you trust ${checkpoint}. A checkpoint that is newer than the block cannot prove the block. If you trust ${start}, use it. Otherwise, get a proof of a newer block.`;
    throw new VerificationError("anchor", "LIGHT_CLIENT_INVALID", message, { expected: checkpoint, actual: start });
  }
  let state = startAt(network, checkpoint, bootstrap);
  checkAge({ ...config, now }, state);
  const updates = proof.updates.map((update) => ["update", update] as const);
  const last = proof.finalityUpdate === undefined ? [] : [["finality_update", proof.finalityUpdate] as const];
  for (const [kind, text] of [...updates, ...last]) {
    const next = applyUpdate(network, state, decode(network, kind, text), latestSlot(network, now()));
    if (next === undefined) throw malformed("an update shows nothing new");
    state = next;
  }
  return provenBy(state, config);
}

/** Decodes a light-client container of a block proof. @throws VerificationError BUNDLE_SHAPE, step "file" */
function decode<Kind extends keyof Layouts>(
  network: BeaconNetwork,
  kind: Kind,
  text: string,
): ReturnType<typeof decodeSsz<Kind>> {
  try {
    return decodeSsz(network, kind, base64ToBytes(text));
  } catch (error) {
    if (error instanceof KeyrootError && !(error instanceof VerificationError)) throw malformed(error.message);
    throw error;
  }
}

function malformed(problem: string): VerificationError {
  return new VerificationError("file", "BUNDLE_SHAPE", `The block proof is malformed: ${problem}`);
}

const KEYS = ["format", "chainId", "bootstrap", "updates", "finalityUpdate"] as const;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

function parseBlockProof(source: unknown): BlockProof {
  const parts = shape.fields("", parseDocument("The block proof", source, LIMITS), KEYS);
  shape.oneOf("format", parts.format, [FORMAT]);
  const { finalityUpdate } = parts;
  return {
    format: FORMAT,
    chainId: shape.count("chainId", parts.chainId),
    bootstrap: shape.text("bootstrap", parts.bootstrap, BASE64),
    updates: shape.list("updates", parts.updates, Infinity, (path, update) => shape.text(path, update, BASE64)),
    ...(finalityUpdate !== undefined && { finalityUpdate: shape.text("finalityUpdate", finalityUpdate, BASE64) }),
  };
}
