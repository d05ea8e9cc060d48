import { type CheckedOptions, type ClientOptions } from "../shared/options.ts";
import { ArgumentError } from "../errors.ts";
import { ADDRESS, type KeyType, parseUserID, type UserID } from "keyroot/internal/formats";
import type { PossessionStatement } from "keyroot/internal/identity";
import { checkChainId, checkText } from "keyroot/internal/input";
import { checkUrl } from "keyroot/internal/transport";

/** The service that the app expects. Challenges for another service, chain or contract are not answered. */
export interface PossessionOptions {
  /**
   * The URL in the service's `KEYROOT_SERVICE_URL` variable, if the app uses a different URL. Default: `serviceUrl`.
   */
  service?: string | undefined;
  /**
   * The id of the chain (EIP-155) on which the service publishes keys. `register` requires this option if the service
   * publishes keys.
   */
  chainId?: number | bigint | undefined;
  /** The contract in which the service publishes keys: 0x and 40 hex digits. Required with `chainId`. */
  contract?: string | undefined;
  /** The user's id. If you set this option, other users' refresh tokens and responses about other users are rejected. */
  userID?: UserID | undefined;
}

export const POSSESSION: (keyof PossessionOptions)[] = ["service", "chainId", "contract", "userID"];

export interface CheckedPossession extends Pick<PossessionStatement, "registry"> {
  serviceUrl: string;
  userID: UserID | undefined;
  keyType: KeyType;
}

/** A public key whose private key the app cannot read, for example because it is in secure hardware. */
export interface ExternalKey {
  /** The public key, of the registry's type. */
  publicKey: Uint8Array;
  /**
   * Computes the response to a challenge. The library has already checked the ephemeral key in the statement. The
   * result depends on what the hardware can do:
   * - If it computes a shared secret, return `responseOf(statement, sharedSecret)` of `keyroot/records`.
   * - If it signs, return its signature of `possessionTranscript(statement)`. A P-256 signature can be in DER, or the
   *   64 bytes of r and s.
   */
  prove: (statement: PossessionStatement) => Promise<Uint8Array> | Uint8Array;
}

export interface PossessionAnswer {
  challenge: string;
  response: string;
}

export function checkPossession(options: ClientOptions & PossessionOptions, { serviceUrl, keyType }: CheckedOptions) {
  const { service = serviceUrl, chainId, contract, userID } = options;
  if ((chainId === undefined) !== (contract === undefined))
    throw new ArgumentError("ARGUMENT_INVALID", "Set both of the options chainId and contract, or neither.");
  return {
    keyType,
    serviceUrl: checkUrl("service", service),
    userID: userID === undefined ? undefined : parseUserID(userID),
    registry:
      chainId === undefined
        ? undefined
        : {
            chainId: checkChainId("The chainId option", chainId),
            contract: checkText("The contract option", contract, "an address, 0x and 40 hex digits", ADDRESS),
          },
  } satisfies CheckedPossession;
}
