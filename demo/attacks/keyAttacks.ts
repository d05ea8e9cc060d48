import { base64ToBytes } from "keyroot/internal/bytes";
import { type KeyRecord, makeKeyRecord, serializeKeyRecord, type UserID } from "keyroot/internal/identity";
import { makeMerkleFile, type MerkleFile, serializeMerkleFile } from "keyroot/internal/merkle";
import { encodeGetMerkleTreeRoot, ZERO_ROOT } from "keyroot/internal/registry";
import { type Attack, type AttackContext, type Call, replaceRoot } from "./attack.ts";

export const KEY_ATTACKS: readonly Attack[] = [
  {
    name: "swapped-key",
    attacker: "The server",
    description: "the server sends the attacker's key",
    expectedCode: "KEY_MISMATCH",
    target: sendAttackersKey,
  },
  {
    name: "swapped-record",
    attacker: "The file host",
    description: "the record in the file has the attacker's key",
    expectedCode: "ROOT_MISMATCH",
    file: (file, context) => ({ ...toJson(file), values: valuesWith(file, context) }),
  },
  {
    name: "rebuilt-file",
    attacker: "The file host",
    description: "the whole file is rebuilt around the attacker's key",
    expectedCode: "ROOT_MISMATCH",
    file: ({ records }, context) =>
      toJson(
        makeMerkleFile(
          records.map((record) => forge(record, context)),
          context.keyType,
        ),
      ),
  },
  {
    name: "redirected-lookup",
    attacker: "The file host",
    description: "lookup points at another user's record",
    expectedCode: "LOOKUP_MISMATCH",
    file: (file, { victim: { userID } }) => {
      const json = toJson(file);
      const { [userID]: own = 0 } = json.lookup;
      return { ...json, lookup: { ...json.lookup, [userID]: (own + 1) % json.values.length } };
    },
  },
  {
    name: "duplicated-leaf",
    attacker: "The file host",
    description: "the last record is repeated, which keeps the root",
    expectedCode: "DUPLICATE_VALUE",
    file: (file) => ({ ...toJson(file), values: [...file.values, ...file.values.slice(-1)] }),
  },
  {
    name: "cut-file",
    attacker: "The file host",
    description: "the file ends half-way",
    expectedCode: "JSON_INVALID",
    file: (file) => {
      const text = JSON.stringify(toJson(file));
      return text.slice(0, text.length / 2);
    },
  },
  {
    name: "redirect",
    attacker: "The file host",
    description: "the file host redirects to another host",
    expectedCode: "REDIRECT_REFUSED",
    file: () => new URL("http://127.0.0.1:9/"),
  },
  {
    name: "wrong-root",
    attacker: "The endpoint",
    description: "the endpoint returns the root of another batch",
    expectedCode: "PROOF_INVALID",
    rpc: (call, result, context) => replaceVictimsRoot(call, result, context, context.otherRoot),
  },
  {
    name: "hidden-root",
    attacker: "The endpoint",
    description: "the endpoint denies that there is a root",
    expectedCode: "PROOF_INVALID",
    rpc: (call, result, context) => replaceVictimsRoot(call, result, context, ZERO_ROOT),
  },
  {
    name: "other-chain",
    attacker: "The endpoint",
    description: "the endpoint is on the attacker's own chain",
    expectedCode: "CHAIN_ID_MISMATCH",
    rpc: ({ method }, result) => (method === "eth_chainId" ? "0x539" : result),
  },
  {
    name: "invented-root",
    attacker: "Several servers together",
    description: "server, file host and endpoint invent a file and its root",
    expectedCode: "PROOF_INVALID",
    foolsOneEndpoint: true,
    target: sendAttackersKey,
    inventedFile,
    rpc: (call, result, context) => replaceVictimsRoot(call, result, context, inventedFile(context).tree.root),
  },
];

function sendAttackersKey({ victim: { userID }, attackersKey }: AttackContext) {
  return { userID, sentKey: attackersKey };
}

/** A file with the victim's id and the attacker's key. */
function inventedFile(context: AttackContext): MerkleFile {
  return makeMerkleFile([forge(context.victim, context)], context.keyType);
}

function forge(record: KeyRecord, { victim: { userID }, attackersKey, keyType }: AttackContext): KeyRecord {
  return record.userID === userID ? makeKeyRecord(userID, base64ToBytes(attackersKey), keyType) : record;
}

function replaceVictimsRoot(call: Call, result: unknown, { victim }: AttackContext, root: string): unknown {
  return replaceRoot(call, result, root, encodeGetMerkleTreeRoot(victim.userID));
}

interface FileJson {
  merkle: object;
  values: string[];
  lookup: Record<UserID, number>;
}

function toJson(file: MerkleFile): FileJson {
  return JSON.parse([...serializeMerkleFile(file)].join("")) as FileJson;
}

function valuesWith({ records, values }: MerkleFile, context: AttackContext): string[] {
  const { victim } = context;
  return values.map((value, i) =>
    records[i]?.userID === victim.userID ? serializeKeyRecord(forge(victim, context)) : value,
  );
}
