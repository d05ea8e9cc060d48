import type { AuditorsOption } from "keyroot/auditors";
import type { BeaconOptions } from "keyroot/beacon";

/** The configuration of an explorer, which its page contains as JSON. All of it is public. */
export interface ExplorerConfig {
  /** The endpoints that visitors can choose from. The first is the default. */
  rpc: readonly string[];
  /** The chain of the contract (EIP-155). */
  chainId: number;
  /** The address of the contract, 0x and 40 hex digits. */
  contract: string;
  /** The URL of the folder with the Merkle-tree files. */
  merkleUrl: string;
  /** The light client's endpoints and checkpoint. With them, it is the default source of the block. */
  beacon?: Omit<BeaconOptions, "store"> | undefined;
  /** The auditors whose statements count. Without `beacon`, they are the default source of the block. */
  auditors?: AuditorsOption | undefined;
  /** Keccak-256 of the contract's code, 0x and 64 lowercase hex digits. Default: any code. */
  codeHash?: string | undefined;
  /** The slot of the contract's mapping from users to roots, for storage proofs. Default 2. */
  usersSlot?: number | undefined;
  /** Allows http to other machines than the visitor's. Browsers also require that the page itself has no https. */
  allowHttp?: boolean | undefined;
  /** The URL of the chain's own explorer, such as https://etherscan.io, for links. Default none. */
  blockExplorerUrl?: string | undefined;
  /** Allows visitors to add endpoints. The policy then allows requests to any host with https. */
  visitorEndpoints?: boolean | undefined;
  /** Ids of users to try. */
  samples?: readonly string[] | undefined;
  /** Attacks to try, on a local stack. */
  attacks?: readonly ExplorerAttack[] | undefined;
}

/** An attack that a visitor can try: servers that return false answers, and the attacked user. */
export interface ExplorerAttack {
  name: string;
  /** Description of the attack in one line. */
  description: string;
  /** The code with which the verifier rejects it. */
  expectedCode: string;
  userID: string;
  /** The attacker's endpoint and file host. They forward every answer that the attack does not change. */
  rpc: string;
  merkleUrl: string;
  /** The key that the attacker's server returns, in base64. */
  expectedPublicKey?: string | undefined;
}
