import { type CheckedOptions, type ClientOptions } from "../options.ts";
import { ArgumentError } from "../../errors.ts";
import { ADDRESS } from "../../ethereum/rpcValues.ts";
import type { KeyPair } from "../../identity/newPublicKey.ts";
import type { PossessionStatement } from "../../identity/possession.ts";
import { checkPublicKey } from "../../identity/publicKey.ts";
import { type UserID, parseUserID } from "../../identity/userID.ts";
import { checkChainId, checkFunction, checkObject, checkText } from "../../input/options.ts";
import { checkUrl } from "../../transport/url.ts";

/** The service that the app expects. A challenge of another service, chain or contract is not answered. */
export interface PossessionOptions {
  /** The service's own URL (its `KEYROOT_SERVICE_URL`), if the app reaches it by another one. Default `serviceUrl`. */
  service?: string | undefined;
  /** The chain (EIP-155) where the service publishes keys. Required by `register` unless the service publishes none. */
  chainId?: number | bigint | undefined;
  /** The contract where the service publishes keys: 0x and 40 hex digits. Required with `chainId`. */
  contract?: string | undefined;
  /** The user's id. If given, answers about another user are refused. */
  userID?: UserID | undefined;
}

/** The names of these options. */
export const POSSESSION: (keyof PossessionOptions)[] = ["service", "chainId", "contract", "userID"];

/** `PossessionOptions`, checked. */
export interface CheckedPossession extends Pick<PossessionStatement, "registry"> {
  serviceUrl: string;
  userID: UserID | undefined;
}

/** A public key whose private key the app cannot read, for example because it is in secure hardware. */
export interface ExternalKey {
  /** 105 bytes. */
  publicKey: Uint8Array;
  /**
   * Answers a challenge with 32 bytes. The ephemeral key in the statement is checked already. If the hardware computes the
   * shared point, pass it to `responseOf` of `keyroot/identity`.
   */
  prove: (statement: PossessionStatement) => Promise<Uint8Array> | Uint8Array;
}

/** The fields with which `register` answers a challenge. */
export interface PossessionAnswer {
  challenge: string;
  response: string;
}

/** @throws ArgumentError ARGUMENT_INVALID, USER_ID_INVALID */
export function checkPossession(options: ClientOptions & PossessionOptions, { serviceUrl }: CheckedOptions) {
  const { service = serviceUrl, chainId, contract, userID } = options;
  if ((chainId === undefined) !== (contract === undefined))
    throw new ArgumentError("ARGUMENT_INVALID", "The options chainId and contract belong together: give both or none.");
  return {
    serviceUrl: checkUrl("service", service),
    userID: userID === undefined ? undefined : parseUserID(userID),
    registry:
      chainId === undefined
        ? undefined
        : {
            chainId: checkChainId("The option chainId", chainId),
            contract: checkText("The option contract", contract, "an address, 0x and 40 hex digits", ADDRESS),
          },
  } satisfies CheckedPossession;
}

/**
 * Checks the argument of `register`: a public key with its private key, or with a function.
 * @returns the public key, 105 bytes
 * @throws ArgumentError as `checkPublicKey`; ARGUMENT_INVALID, without the private key
 */
export function checkKey(key: KeyPair | ExternalKey): Uint8Array {
  checkObject("The key", key, "an object with publicKey, and privateKey or prove");
  checkPublicKey(key.publicKey);
  if ("prove" in key) checkFunction("The key's field prove", key.prove);
  else if (typeof key.privateKey !== "bigint") {
    const message = "The key must have its private key as a bigint in privateKey, or a function in prove.";
    throw new ArgumentError("ARGUMENT_INVALID", message);
  }
  return key.publicKey;
}
