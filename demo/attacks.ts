import { makeKeyRecord, serializeKeyRecord } from "keyroot/identity";
import type { UserID } from "keyroot/identity";
import { makeMerkleFile, type MerkleFile, serializeMerkleFile } from "keyroot/merkle";
import type { ErrorCode } from "keyroot/errors";
import { encodeGetMerkleTreeRoot } from "keyroot/registry";

/** Whom an attack is aimed at, and what the attacker has. */
export interface Plot {
  victim: UserID;
  /** The attacker's own public key: 105 bytes. */
  attackersKey: Uint8Array;
  /** The root of a batch that the victim is not in. */
  otherRoot: string;
}

/** One way to make a client believe in a false key, and the verifier's answer to it. */
export interface Attack {
  name: string;
  /** What the attacker does, in one line. */
  deed: string;
  refusal: ErrorCode;
  /** The key that the friend is handed by the server. */
  handOut?: (plot: Plot) => Uint8Array;
  /** Changes a Merkle-tree file on its way: an object to send as JSON, a text, or an address to redirect to. */
  file?: (file: MerkleFile, plot: Plot) => object | string | URL;
  /** Changes the result of a JSON-RPC call on its way. */
  rpc?: (call: Call, result: unknown, plot: Plot) => unknown;
}

/** A JSON-RPC call. */
export interface Call {
  method: string;
  params: unknown[];
}

export const ATTACKS: readonly Attack[] = [
  {
    name: "swapped-key",
    deed: "the server hands out the attacker's key",
    refusal: "KEY_MISMATCH",
    handOut: ({ attackersKey }) => attackersKey,
  },
  {
    name: "swapped-record",
    deed: "the record in the file holds the attacker's key",
    refusal: "ROOT_MISMATCH",
    file: (file, plot) => ({ ...toJson(file), values: valuesWith(file, plot) }),
  },
  {
    name: "doctored-file",
    deed: "the whole file is built anew around the attacker's key",
    refusal: "ROOT_MISMATCH",
    file: ({ records }, { victim, attackersKey }) =>
      toJson(
        makeMerkleFile(
          records.map((record) => (record.userID === victim ? makeKeyRecord(victim, attackersKey) : record)),
        ),
      ),
  },
  {
    name: "redirected-lookup",
    deed: "lookup points at somebody else's record",
    refusal: "LOOKUP_MISMATCH",
    file: (file, { victim }) => {
      const json = toJson(file);
      const { [victim]: own = 0 } = json.lookup;
      return { ...json, lookup: { ...json.lookup, [victim]: (own + 1) % json.values.length } };
    },
  },
  {
    name: "duplicated-leaf",
    deed: "the last record comes twice, which leaves the root as it is",
    refusal: "DUPLICATE_VALUE",
    file: (file) => ({ ...toJson(file), values: [...file.values, ...file.values.slice(-1)] }),
  },
  {
    name: "cut-file",
    deed: "the file ends half-way",
    refusal: "JSON_INVALID",
    file: (file) => {
      const text = JSON.stringify(toJson(file));
      return text.slice(0, text.length / 2);
    },
  },
  {
    name: "redirect",
    deed: "the file host sends the client elsewhere",
    refusal: "REDIRECT_REFUSED",
    file: () => new URL("http://127.0.0.1:9/"),
  },
  {
    name: "wrong-root",
    deed: "the chain's endpoint names another batch's root",
    refusal: "USER_NOT_IN_FILE",
    rpc: (call, result, plot) => (asksForRoot(call, plot) ? `0x${plot.otherRoot}` : result),
  },
  {
    name: "hidden-root",
    deed: "the chain's endpoint denies that there is a root",
    refusal: "NOT_PUBLISHED",
    rpc: (call, result, plot) => (asksForRoot(call, plot) ? `0x${"00".repeat(32)}` : result),
  },
  {
    name: "other-chain",
    deed: "the endpoint speaks for a chain of the attacker's own",
    refusal: "CHAIN_ID_MISMATCH",
    rpc: ({ method }, result) => (method === "eth_chainId" ? "0x539" : result),
  },
];

function asksForRoot({ method, params }: Call, { victim }: Plot): boolean {
  return method === "eth_call" && JSON.stringify(params).includes(encodeGetMerkleTreeRoot(victim));
}

interface FileJson {
  merkle: object;
  values: string[];
  lookup: Record<UserID, number>;
}

function toJson(file: MerkleFile): FileJson {
  return JSON.parse([...serializeMerkleFile(file)].join("")) as FileJson;
}

function valuesWith({ records, values }: MerkleFile, { victim, attackersKey }: Plot): string[] {
  const forged = serializeKeyRecord(makeKeyRecord(victim, attackersKey));
  return values.map((value, i) => (records[i]?.userID === victim ? forged : value));
}
