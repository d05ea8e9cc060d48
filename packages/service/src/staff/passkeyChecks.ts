import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import type { FastifyRequest } from "fastify";
import { ServiceError } from "../api/base/errors.ts";
import { type ApiContext, baseUrlOf } from "../api/context.ts";
import { CHALLENGE_MS, type Purpose, type SessionStore } from "./sessions.ts";
import type { Person, Session } from "../api/base/principals.ts";
import type { Passkey, PasskeyStore } from "./passkeys.ts";

/** Signature algorithms that passkeys may use: Ed25519, ES256 and RS256 (IANA, COSE Algorithms). */
const ALGORITHMS = [-8, -7, -257];

/** The fields of a browser's response that the check uses. */
export type AnswerTo<Options extends "register" | "authenticate"> = Pick<
  Options extends "register" ? RegistrationResponseJSON : AuthenticationResponseJSON,
  "id" | "rawId" | "type" | "response"
>;

export interface PasskeyContext extends ApiContext {
  passkeys: PasskeyStore;
  sessions: SessionStore;
}

/** Registers and verifies passkeys (W3C, Web Authentication Level 3) with user verification. */
export class Passkeys {
  readonly #context: PasskeyContext;

  constructor(context: PasskeyContext) {
    this.#context = context;
  }

  /** The options of `navigator.credentials.create` for a new passkey of the session's person. */
  async registrationOptions({ person, sessionHash }: Session, request: FastifyRequest) {
    const { generateRegistrationOptions } = await load();
    const { passkeys, sessions, now } = this.#context;
    const options = await generateRegistrationOptions({
      rpName: "Keyroot",
      rpID: this.#relyingParty(request).expectedRPID,
      userID: new TextEncoder().encode(person.personID),
      userName: person.name,
      userDisplayName: person.name,
      attestationType: "none",
      excludeCredentials: (await passkeys.listOf(person.personID)).map(toDescriptor),
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
      supportedAlgorithmIDs: ALGORITHMS,
      timeout: CHALLENGE_MS,
    });
    await sessions.addChallenge(options.challenge, "register", sessionHash, now());
    return options;
  }

  /** Verifies a new passkey. @throws ServiceError PASSKEY_REFUSED */
  async verifyRegistration(answer: AnswerTo<"register">, session: Session, request: FastifyRequest): Promise<Passkey> {
    const { verifyRegistrationResponse } = await load();
    const { registrationInfo } = await refusing(() =>
      verifyRegistrationResponse({
        response: { ...answer, clientExtensionResults: {} },
        expectedChallenge: (challenge) => this.#useChallenge(challenge, "register", session),
        ...this.#relyingParty(request),
        requireUserVerification: true,
        supportedAlgorithmIDs: ALGORITHMS,
      }),
    );
    if (registrationInfo === undefined) throw refused();
    const { id: credentialID, publicKey, counter, transports = [] } = registrationInfo.credential;
    return { credentialID, publicKey: Buffer.from(publicKey).toString("base64url"), counter, transports };
  }

  /** The options of `navigator.credentials.get`, to sign in, or to check that the signed-in person is present. */
  async authenticationOptions(session: Session | undefined, request: FastifyRequest) {
    const { generateAuthenticationOptions } = await load();
    const { passkeys, sessions, now } = this.#context;
    const own = session === undefined ? [] : await passkeys.listOf(session.person.personID);
    const options = await generateAuthenticationOptions({
      rpID: this.#relyingParty(request).expectedRPID,
      allowCredentials: own.map(toDescriptor),
      userVerification: "required",
      timeout: CHALLENGE_MS,
    });
    const purpose = session === undefined ? "signIn" : "verify";
    await sessions.addChallenge(options.challenge, purpose, session?.sessionHash ?? null, now());
    return options;
  }

  /**
   * Verifies a passkey's signature. With a session, only the passkeys of its person are accepted. Without one, somebody
   * is signing in, so any person's passkey is accepted.
   * @throws ServiceError PASSKEY_REFUSED
   */
  async verifyAuthentication(
    answer: AnswerTo<"authenticate">,
    session: Session | undefined,
    request: FastifyRequest,
  ): Promise<{ person: Person; credentialID: string; counter: number }> {
    const { verifyAuthenticationResponse } = await load();
    const found = await this.#context.passkeys.get(answer.id);
    if (found === undefined || (session !== undefined && session.person.personID !== found.person.personID))
      throw refused();
    const { credentialID, publicKey, counter } = found.passkey;
    const { verified, authenticationInfo } = await refusing(() =>
      verifyAuthenticationResponse({
        response: { ...answer, clientExtensionResults: {} },
        expectedChallenge: (challenge) =>
          this.#useChallenge(challenge, session === undefined ? "signIn" : "verify", session),
        ...this.#relyingParty(request),
        credential: { id: credentialID, publicKey: new Uint8Array(Buffer.from(publicKey, "base64url")), counter },
        requireUserVerification: true,
      }),
    );
    if (!verified) throw refused();
    return { person: found.person, credentialID, counter: authenticationInfo.newCounter };
  }

  #useChallenge(challenge: string, purpose: Purpose, session: Session | undefined): Promise<boolean> {
    const { sessions, now } = this.#context;
    return sessions.useChallenge(challenge, purpose, session?.sessionHash ?? null, now());
  }

  #relyingParty(request: FastifyRequest) {
    const { origin, hostname } = new URL(baseUrlOf(this.#context, request));
    return { expectedOrigin: origin, expectedRPID: hostname };
  }
}

/** Loads the WebAuthn library on demand, because the library loads certificate parsers. */
function load() {
  return import("@simplewebauthn/server");
}

/** Converts the library's errors for invalid responses. Database errors are passed on. */
async function refusing<T>(verify: () => Promise<T>): Promise<T> {
  try {
    return await verify();
  } catch (error) {
    if (error instanceof Error && "query" in error) throw error;
    throw refused({ cause: error });
  }
}

function refused(options: ErrorOptions = {}): ServiceError {
  const message = "The service did not accept this passkey. Use another passkey, or get a new invitation.";
  return new ServiceError(403, "PASSKEY_REFUSED", message, options);
}

function toDescriptor({ credentialID: id, transports }: Passkey) {
  return { id, transports: transports };
}
