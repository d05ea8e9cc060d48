import { type CheckedOptions, type ClientOptions } from "../shared/options.ts";
import { ArgumentError } from "../errors.ts";
import { ADDRESS } from "keyroot/internal/formats";
import type { KeyPair } from "keyroot/internal/identity";
import type { PossessionStatement } from "keyroot/internal/identity";
import { checkPublicKey } from "keyroot/internal/formats";
import { type UserID, parseUserID } from "keyroot/internal/formats";
import { checkChainId, checkFunction, checkObject, checkText } from "keyroot/internal/input";
import { checkUrl } from "keyroot/internal/transport";

/**
 * The service that the app expects. The client does not respond to challenges for another service, chain or contract.
 */
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
  /** The user's id. If this option is set, the client rejects responses for other users. */
  userID?: UserID | undefined;
}

export const POSSESSION: (keyof PossessionOptions)[] = ["service", "chainId", "contract", "userID"];

export interface CheckedPossession extends Pick<PossessionStatement, "registry"> {
  serviceUrl: string;
  userID: UserID | undefined;
}

/** A public key with a private key that the app cannot read, such as a private key in secure hardware. */
export interface ExternalKey {
  /** The public key, 105 bytes. */
  publicKey: Uint8Array;
  /**
   * Computes the response to a challenge, 32 bytes. The library has already checked the ephemeral key in the statement.
   * If the hardware computes the shared point, pass this point to `responseOf` of `keyroot/identity`.
   */
  prove: (statement: PossessionStatement) => Promise<Uint8Array> | Uint8Array;
}

export interface PossessionAnswer {
  challenge: string;
  response: string;
}

export function checkPossession(options: ClientOptions & PossessionOptions, { serviceUrl }: CheckedOptions) {
  const { service = serviceUrl, chainId, contract, userID } = options;
  if ((chainId === undefined) !== (contract === undefined))
    throw new ArgumentError("ARGUMENT_INVALID", "Set both of the options chainId and contract, or neither.");
  return {
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

/**
 * Checks the argument of `register`: a public key with the private key or with a function.
 * @returns the public key, 105 bytes
 * @throws ArgumentError as `checkPublicKey`; ARGUMENT_INVALID. The error does not contain the private key.
 */
export function checkKey(key: KeyPair | ExternalKey): Uint8Array {
  checkObject("The key", key, "an object with publicKey, and privateKey or prove");
  checkPublicKey(key.publicKey);
  if ("prove" in key) checkFunction("The key's prove field", key.prove);
  else if (typeof key.privateKey !== "bigint")
    throw new ArgumentError("ARGUMENT_INVALID", "The key must have a bigint privateKey or a function prove.");
  return key.publicKey;
}
