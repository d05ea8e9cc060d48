/** What an explorer shows: the page contains it as JSON. All of it is public. */
export interface ExplorerConfig {
  /** The endpoints that visitors can choose from. The first is the default. */
  rpc: readonly string[];
  /** The chain of the contract (EIP-155). */
  chainId: number;
  /** The address of the contract, 0x and 40 hex digits. */
  contract: string;
  /** The URL of the folder with the Merkle-tree files. */
  merkleUrl: string;
  /** Keccak-256 of the contract's code, 0x and 64 lowercase hex digits. Default: any code. */
  codeHash?: string | undefined;
  /** The slot of the contract's mapping from users to roots, for storage proofs. Default 2. */
  usersSlot?: number | undefined;
  /** Allows http to other machines than the visitor's. Browsers also require that the page itself has no https. */
  allowHttp?: boolean | undefined;
  /** Whether visitors can add endpoints of their own. The policy then allows requests to any host with https. */
  visitorEndpoints?: boolean | undefined;
  /** Ids of users to try. */
  samples?: readonly string[] | undefined;
  /** Attacks to try, on a local stack. */
  attacks?: readonly ExplorerAttack[] | undefined;
}

/** An attack that a visitor can try: servers that lie, and the user whose key they attack. */
export interface ExplorerAttack {
  name: string;
  /** What the attacker does, in one line. */
  description: string;
  /** The code with which the verifier rejects it. */
  expectedCode: string;
  userID: string;
  /** The attacker's endpoint and file host, which forward what they do not change. */
  rpc: string;
  merkleUrl: string;
  /** The key that the attacker's server hands out, in base64. */
  expectedPublicKey?: string | undefined;
}
