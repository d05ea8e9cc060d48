import type { AuditorsOptions } from "keyroot/auditors";
import type { KeyTypeName } from "keyroot/internal/identity";
import type { LightClientOptions } from "keyroot/light-client";

/** The configuration of an explorer. The page contains the configuration as JSON, so all values are public. */
export interface ExplorerConfig {
  /** The JSON-RPC endpoints that visitors can choose from. The first endpoint is the default. */
  rpc: readonly string[];
  /** The chain id of the contract's chain (EIP-155). */
  chainId: number;
  /** The address of the contract: 0x and 40 hex digits. */
  contract: string;
  /** The URL of the folder with the Merkle-tree files. */
  merkleUrl: string;
  /**
   * The endpoints and the checkpoint of the light client. If this field is set, the light client is the default source
   * of the block.
   */
  lightClient?: Omit<LightClientOptions, "store"> | undefined;
  /**
   * The auditors. The page accepts these auditors' statements. Without `lightClient`, the auditors are the default source of
   * the block.
   */
  auditors?: AuditorsOptions | undefined;
  /** The type of the registry's keys. Default: `curve41417`. */
  keyType?: KeyTypeName | undefined;
  /** Keccak-256 of the contract's code: 0x and 64 lowercase hex digits. Default: any code. */
  codeHash?: string | undefined;
  /**
   * Allows unencrypted http to machines other than the visitor's machine. Browsers allow unencrypted requests only on a
   * page that was loaded with http.
   */
  allowHttp?: boolean | undefined;
  /** The URL of the chain's block explorer for links, such as https://etherscan.io. Default: no links. */
  blockExplorerUrl?: string | undefined;
  /** Allows visitors to add endpoints. The content security policy then allows requests to any https host. */
  visitorEndpoints?: boolean | undefined;
  /** User ids that visitors can try. */
  samples?: readonly string[] | undefined;
  /** Attacks that visitors can try on a local stack. */
  attacks?: readonly ExplorerAttack[] | undefined;
}

/** An attack that a visitor can try: servers that return false responses, and the attacked user. */
export interface ExplorerAttack {
  name: string;
  /** The description of the attack in one line. */
  description: string;
  /** The error code with which the verifier rejects the attack. */
  expectedCode: string;
  userID: string;
  /** The URL of the attacker's endpoint. The endpoint forwards all responses that the attack does not change. */
  rpc: string;
  merkleUrl: string;
  /** The public key that the attacker's server returns, in base64. */
  expectedPublicKey?: string | undefined;
}
