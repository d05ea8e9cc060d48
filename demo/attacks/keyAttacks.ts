import type { BlockHeader } from "keyroot/internal/ethereum";
import type { ErrorCode } from "keyroot/internal/errors";
import { makeKeyRecord, serializeKeyRecord, type UserID } from "keyroot/internal/identity";
import { makeMerkleFile, type MerkleFile, serializeMerkleFile } from "keyroot/internal/merkle";
import { encodeGetMerkleTreeRoot } from "keyroot/internal/registry";

/** The victim of an attack, and data that attacks use. */
export interface AttackContext {
  victim: UserID;
  /** The attacker's own public key (105 bytes). */
  attackersKey: Uint8Array;
  /** The root of a batch that does not contain the victim. */
  otherRoot: string;
  /** A block from before the victim's key was published. Only an attack on the light client uses it. */
  olderBlock?: BlockHeader | undefined;
}

/** One attempt to make a client accept a false key. */
export interface Attack {
  name: string;
  /** A one-line description of the attack. */
  description: string;
  /** The error code from a verifier without a required storage proof. */
  expectedCode: ErrorCode;
  /** The error code from a verifier with a required storage proof. Default: `expectedCode`. */
  codeWithProof?: ErrorCode;
  /** The key that the server sends to the contact's app. */
  serverKey?: (context: AttackContext) => Uint8Array;
  /** Changes a Merkle-tree file in transit. Returns an object to send as JSON, a text, or a URL to redirect to. */
  file?: (file: MerkleFile, context: AttackContext) => object | string | URL;
  /** Changes the result of a JSON-RPC call in transit. */
  rpc?: (call: Call, result: unknown, context: AttackContext) => unknown;
}

export interface Call {
  method: string;
  params: unknown[];
}

export const ATTACKS: readonly Attack[] = [
  {
    name: "swapped-key",
    description: "the server sends the attacker's key",
    expectedCode: "KEY_MISMATCH",
    serverKey: ({ attackersKey }) => attackersKey,
  },
  {
    name: "swapped-record",
    description: "the record in the file has the attacker's key",
    expectedCode: "ROOT_MISMATCH",
    file: (file, context) => ({ ...toJson(file), values: valuesWith(file, context) }),
  },
  {
    name: "rebuilt-file",
    description: "the whole file is rebuilt around the attacker's key",
    expectedCode: "ROOT_MISMATCH",
    file: ({ records }, { victim, attackersKey }) =>
      toJson(
        makeMerkleFile(
          records.map((record) => (record.userID === victim ? makeKeyRecord(victim, attackersKey) : record)),
        ),
      ),
  },
  {
    name: "redirected-lookup",
    description: "lookup points at another user's record",
    expectedCode: "LOOKUP_MISMATCH",
    file: (file, { victim }) => {
      const json = toJson(file);
      const { [victim]: own = 0 } = json.lookup;
      return { ...json, lookup: { ...json.lookup, [victim]: (own + 1) % json.values.length } };
    },
  },
  {
    name: "duplicated-leaf",
    description: "the last record is repeated, which does not change the root",
    expectedCode: "DUPLICATE_VALUE",
    file: (file) => ({ ...toJson(file), values: [...file.values, ...file.values.slice(-1)] }),
  },
  {
    name: "cut-file",
    description: "the file ends half-way",
    expectedCode: "JSON_INVALID",
    file: (file) => {
      const text = JSON.stringify(toJson(file));
      return text.slice(0, text.length / 2);
    },
  },
  {
    name: "redirect",
    description: "the file host redirects to another host",
    expectedCode: "REDIRECT_REFUSED",
    file: () => new URL("http://127.0.0.1:9/"),
  },
  {
    name: "wrong-root",
    description: "the endpoint returns the root of another batch",
    expectedCode: "USER_NOT_IN_FILE",
    codeWithProof: "PROOF_INVALID",
    rpc: (call, result, context) => replaceRoot(call, result, context, context.otherRoot),
  },
  {
    name: "hidden-root",
    description: "the endpoint denies that there is a root",
    expectedCode: "NOT_PUBLISHED",
    codeWithProof: "PROOF_INVALID",
    rpc: (call, result, context) => replaceRoot(call, result, context, "00".repeat(32)),
  },
  {
    name: "other-chain",
    description: "the endpoint is on the attacker's own chain",
    expectedCode: "CHAIN_ID_MISMATCH",
    rpc: ({ method }, result) => (method === "eth_chainId" ? "0x539" : result),
  },
];

/** Replaces the victim's root in the result of a call, and the value in every storage proof. */
function replaceRoot({ method, params }: Call, result: unknown, { victim }: AttackContext, root: string): unknown {
  if (method === "eth_call" && JSON.stringify(params).includes(encodeGetMerkleTreeRoot(victim))) return `0x${root}`;
  if (method !== "eth_getProof") return result;
  const { storageProof, ...account } = result as { storageProof: { proof: string[] }[] };
  const forged = storageProof.map(({ proof, ...slot }) => ({
    ...{ ...slot, value: `0x${root}` },
    proof: [...proof.slice(0, -1), (proof.at(-1) ?? "").slice(0, -64) + root],
  }));
  return { ...account, storageProof: forged };
}

interface FileJson {
  merkle: object;
  values: string[];
  lookup: Record<UserID, number>;
}

function toJson(file: MerkleFile): FileJson {
  return JSON.parse([...serializeMerkleFile(file)].join("")) as FileJson;
}

function valuesWith({ records, values }: MerkleFile, { victim, attackersKey }: AttackContext): string[] {
  const forged = serializeKeyRecord(makeKeyRecord(victim, attackersKey));
  return values.map((value, i) => (records[i]?.userID === victim ? forged : value));
}
