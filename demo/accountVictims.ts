import { ed25519 } from "@noble/curves/ed25519.js";
import { FolderStore, publish, Registry } from "@keyroot/operator/publisher";
import { deployRegistry, type Stack } from "@keyroot/service/stack";
import { type Account, keyStatementText, makeAccount, makeKeyStatement, slotIDOf } from "keyroot/account";
import { base64ToBytes, bytesToBase64 } from "keyroot/internal/bytes";
import { type KeyType, makeKeyRecord, type UserID } from "keyroot/internal/identity";
import { generateKeyOf } from "keyroot/internal/keyTypes";
import { RPC_LIMITS, rpcCaller } from "keyroot/internal/transport";

/** A user with an account. */
interface AccountVictim {
  userID: UserID;
  /** The user ids under which the owner's keys are published, by their numbers. */
  slotIDs: UserID[];
  /** The public keys in base64, by their numbers. */
  keys: string[];
  /** The account file after each key that the owner authorized. */
  files: string[];
}

/** Users of a registry in which user ids are accounts, and what their attackers hold. */
export interface AccountVictims {
  contract: string;
  /** Has changed the key once. */
  changed: AccountVictim;
  /** Has one key. Somebody else filled the next slot with `keys[1]`. */
  overtaken: AccountVictim;
  /** An account of another registry. */
  elsewhere: AccountVictim;
  /** Account files of `changed` with a statement for the attacker's key. */
  forged: {
    /** One of two recovery keys signed. */
    belowThreshold: string;
    /** The owner's statement for key 1, with the number 2. */
    otherNumber: string;
  };
}

/** Signed by two of the account's recovery keys: one in the phone, and one on paper. */
const THRESHOLD = 2;

/** The owner of an account, who signs statements with its recovery keys. */
class Owner {
  readonly account: Account;
  readonly keys: string[] = [];
  readonly files: string[] = [];
  readonly #recovery = Array.from({ length: THRESHOLD }, () => ed25519.utils.randomSecretKey());

  constructor(place: { chainId: number; contract: string }) {
    const keys = this.#recovery.map((secret) => ({
      type: "ed25519" as const,
      publicKey: ed25519.getPublicKey(secret),
    }));
    this.account = makeAccount({ ...place, keys, threshold: THRESHOLD });
  }

  /** Signs a statement with the first recovery keys. */
  sign(number: number, publicKey: Uint8Array, signers = THRESHOLD) {
    const text = keyStatementText(this.account, { number, publicKey });
    const signatures = this.#recovery.slice(0, signers).map((secret, i) => ({
      keyNumber: i + 1,
      signature: ed25519.sign(new TextEncoder().encode(text), secret),
    }));
    return { text, signatures };
  }

  /** Authorizes a new key. */
  change(publicKey: Uint8Array): void {
    const number = this.keys.length;
    const { signatures } = this.sign(number, publicKey);
    const statement = makeKeyStatement(this.account, { number, publicKey, signatures });
    this.keys.push(bytesToBase64(publicKey));
    this.files.push(`${this.account.text}\n${statement}`);
  }

  victim(): AccountVictim {
    const { account, keys, files } = this;
    return { userID: account.userID, slotIDs: keys.map((_, number) => slotIDOf(account, number)), keys, files };
  }
}

/**
 * Deploys a registry whose user ids are accounts, and publishes users' keys. In one account, the operator has filled a
 * slot without a statement of the account's owner. Only an operator can do this.
 */
export async function publishAccountVictims(
  { connection, rpcUrl, chainId, filesDir }: Pick<Stack, "connection" | "rpcUrl" | "chainId" | "filesDir">,
  elsewhere: string,
  keyType: KeyType,
): Promise<AccountVictims> {
  const newKey = async () => (await generateKeyOf(keyType.name)).publicKey;
  const contract = await deployRegistry(connection.provider);
  const [changed, overtaken] = [new Owner({ chainId, contract }), new Owner({ chainId, contract })];
  const foreign = new Owner({ chainId, contract: elsewhere });
  for (const owner of [changed, changed, overtaken, foreign]) owner.change(await newKey());
  const attackersKey = await newKey();
  const victims = { changed: changed.victim(), overtaken: overtaken.victim(), elsewhere: foreign.victim() };
  overtaken.keys.push(bytesToBase64(attackersKey));

  const records = [changed, overtaken].flatMap(({ account, keys }) =>
    keys.map((key, number) => makeKeyRecord(slotIDOf(account, number), base64ToBytes(key), keyType)),
  );
  const registry = await Registry.connect(rpcCaller(rpcUrl, RPC_LIMITS), contract);
  await publish(records, { chainId, keyType, limits: "local", registry, store: new FolderStore(filesDir) });

  const { text, signatures } = changed.sign(2, attackersKey, 1);
  const [{ signature } = { signature: new Uint8Array() }] = signatures;
  const belowThreshold = `${changed.account.text}\n${text}\n— 1 ${bytesToBase64(signature)}\n`;
  const otherNumber = (changed.files[1] ?? "").replace("\nnumber 1\n", "\nnumber 2\n");
  return { contract, ...victims, forged: { belowThreshold, otherNumber } };
}
