import type { AuditorsOptions } from "keyroot/auditors";
import type { KeyTypeName } from "keyroot/internal/identity";
import type { LightClientOptions } from "keyroot/light-client";

/** The configuration of an explorer. The page contains the configuration as JSON, so all values are public. */
export interface ExplorerConfig {
  /** The JSON-RPC endpoints that visitors can choose from, the first of which is the default. */
  rpc: readonly string[];
  /** The chain id of the contract's chain (EIP-155). */
  chainId: number;
  /** The address of the contract: 0x and 40 hex digits. */
  contract: string;
  /** The URL of the folder with the Merkle-tree files. */
  merkleUrl: string;
  /**
   * The options of the light client: its endpoints and its checkpoint. If they are set, the light client is the default
   * source of the block.
   */
  lightClient?: Omit<LightClientOptions, "store"> | undefined;
  /**
   * The auditors whose statements the page accepts. Without `lightClient`, they are the default source of the block.
   */
  auditors?: AuditorsOptions | undefined;
  /** The type of the registry's keys. Default: `curve41417`. */
  keyType?: KeyTypeName | undefined;
  /** Whether the registry has accounts (docs/accounts.md), so that all user ids are account ids. Default: false. */
  accounts?: boolean | undefined;
  /** Keccak-256 of the contract's code: 0x and 64 lowercase hex digits. Default: any code. */
  codeHash?: string | undefined;
  /**
   * Allows unencrypted http to machines other than the visitor's own. Browsers permit such requests only if the page
   * itself was loaded over http.
   */
  allowHttp?: boolean | undefined;
  /** The URL of the chain's block explorer for links, such as https://etherscan.io. Default: no links. */
  blockExplorerUrl?: string | undefined;
  /** Allows visitors to add endpoints. The content security policy then allows requests to any https host. */
  visitorEndpoints?: boolean | undefined;
  /** User ids that visitors can try. */
  samples?: readonly string[] | undefined;
  /** Attacks that visitors can run on a local stack. */
  attacks?: ExplorerAttacks | undefined;
}

/** Attacks that visitors can run, and the servers that return false responses. */
export interface ExplorerAttacks {
  /**
   * The URL of the attacker's servers. Each attack has an endpoint at `<url>/<name>/rpc`, Merkle-tree files at
   * `<url>/<name>/files` and a beacon endpoint at `<url>/<name>/beacon`.
   */
  url: string;
  list: readonly ExplorerAttack[];
}

/** An attempt to make a contact's app accept a false or outdated key of a user. */
export interface ExplorerAttack {
  name: string;
  /** Who attacks. Attacks are listed under this heading. */
  attacker: string;
  /** The description of the attack in one line. */
  description: string;
  /** The error code with which a verifier that trusts the light client rejects the attack. */
  expectedCode: string;
  userID: string;
  /** The key that the server sends for the user, in base64. */
  sentKey: string;
  /** False if the server sends the user's own, newest key. */
  sendsFalseKey: boolean;
  /** The address of the attacked registry, in which all user ids are accounts. Default: the explorer's registry. */
  contract?: string | undefined;
}
