/**
 * False registrations, in which the registrant does not hold the key, or the proof is not for this registration. The
 * service must reject each of them.
 */
import { createHash, randomBytes } from "node:crypto";
import { sql } from "drizzle-orm";
import type { Databases } from "@keyroot/service";
import { bytesToBase64 } from "keyroot/internal/bytes";
import {
  generateKeyPair,
  type KeyPair,
  type PossessionStatement,
  provePossession,
  responseOf,
} from "keyroot/internal/identity";
import { add, BASE, encode, IDENTITY, multiply, P, pointsOfSmallOrder } from "../data/curve41417.ts";
import { statementOf } from "./answerChallenge.ts";
import type { Answer, Caller, TestPartner, TestUser } from "./caller.ts";

const REGION = "us-west-2";

/** A user without a key, as seen by the app. */
export class AppSession {
  readonly own: KeyPair = generateKeyPair();
  readonly userID: string;
  readonly #service: Caller;
  readonly #accessToken: string;
  readonly #databases: Databases;

  constructor(service: Caller, databases: Databases, { userID, jwt }: TestUser) {
    this.#service = service;
    this.#databases = databases;
    this.userID = userID;
    this.#accessToken = jwt;
  }

  /** Creates a user of this partner. */
  static async open(service: Caller, partner: TestPartner, databases: Databases): Promise<AppSession> {
    return new AppSession(service, databases, await service.createUser(partner, REGION));
  }

  /** Requests a challenge for a key. */
  challenge(publicKey: Uint8Array): Promise<Answer> {
    return this.#send("publicKey/challenge", fieldsOf(publicKey));
  }

  /** Requests a challenge for a valid key. */
  async statement(publicKey: Uint8Array): Promise<PossessionStatement> {
    const { status, body } = await this.challenge(publicKey);
    if (status !== 200) throw new Error(`There is no challenge: ${JSON.stringify(body)}`);
    return statementOf(body, publicKey);
  }

  register(publicKey: Uint8Array, nonce?: Uint8Array, response?: Uint8Array): Promise<Answer> {
    const answer = nonce && response && { challenge: bytesToBase64(nonce), response: bytesToBase64(response) };
    return this.#send("publicKey/register", { ...fieldsOf(publicKey), ...answer });
  }

  /** Registers a key as an honest app does. */
  async registerHonestly({ publicKey, privateKey }: KeyPair): Promise<Answer> {
    const statement = await this.statement(publicKey);
    return this.register(publicKey, statement.nonce, provePossession(statement, privateKey));
  }

  withdraw(key_id: string): Promise<Answer> {
    return this.#send("publicKey/withdraw", { key_id });
  }

  async hasKey(): Promise<boolean> {
    const { body } = await this.#send("record/get", {});
    return body["state"] !== "unregistered";
  }

  /** Makes all challenges of this user expire. */
  async expireChallenges(): Promise<void> {
    const { userID } = this;
    await this.#databases.regions[REGION].execute(
      sql`update possession_challenges set expires = 0 where user_id = ${userID}`,
    );
  }

  #send(operation: string, body: object): Promise<Answer> {
    return this.#service.post(`/v1/authdUser/${operation}`, body, { token: this.#accessToken });
  }
}

/** One attempt. It sends all requests of the attacker, including the request for a challenge. */
type Attempt = () => Promise<Answer>;

/** The attacker has the access token of one user. `victim` is another user, with an app that responds honestly. */
interface Parties {
  attacker: AppSession;
  victim: AppSession;
}

/** Prepares an attempt with data that the attacker obtained before. */
type Prepare = (parties: Parties) => Promise<Attempt>;

/** Prepares an attempt with a false response to a new challenge for the victim's key. */
const withResponse =
  (respond: (statement: PossessionStatement, victim: AppSession) => Uint8Array): Prepare =>
  ({ attacker, victim }) =>
    Promise.resolve(async () => {
      const statement = await attacker.statement(victim.own.publicKey);
      return attacker.register(victim.own.publicKey, statement.nonce, respond(statement, victim));
    });

/** Prepares attempts with points for which the service must make no challenge. Later attempts use another key's challenge. */
const withPoints =
  (points: readonly Uint8Array[]): Prepare =>
  async ({ attacker }) => {
    const statement = await attacker.statement(attacker.own.publicKey);
    const response = responseOf(statement, encode(BASE));
    let i = 0;
    return async () => {
      const point = points[i++ % points.length] ?? new Uint8Array();
      const refused = await attacker.challenge(point);
      if (refused.status === 200) return refused;
      return attacker.register(point, statement.nonce, response);
    };
  };

const [, ofOrderTwo = IDENTITY, ofOrderFour = IDENTITY, , ofOrderEight = IDENTITY] = pointsOfSmallOrder();
const onCurve = multiply(12345n, BASE);
const valid = encode(onCurve);

/** Registers the user's key. @returns the nonce and the response of the registration */
async function registered(session: AppSession): Promise<[Uint8Array, Uint8Array]> {
  const { own } = session;
  const statement = await session.statement(own.publicKey);
  const response = provePossession(statement, own.privateKey);
  await session.register(own.publicKey, statement.nonce, response);
  return [statement.nonce, response];
}

/** The preparations of false registrations, by name. */
export const FALSE_REGISTRATIONS: Readonly<Record<string, Prepare>> = {
  "without a response": ({ attacker, victim }) => Promise.resolve(() => attacker.register(victim.own.publicKey)),
  "with a guessed response": withResponse(() => new Uint8Array(randomBytes(32))),
  "with another private key": withResponse((statement) => provePossession(statement, 3n)),
  "with a replayed response to a new challenge": async ({ attacker, victim }) => {
    const [, response] = await registered(victim);
    return async () => {
      const { nonce } = await attacker.statement(victim.own.publicKey);
      return attacker.register(victim.own.publicKey, nonce, response);
    };
  },
  "with a replayed response to its own challenge": async ({ attacker, victim }) => {
    const [nonce, response] = await registered(victim);
    return () => attacker.register(victim.own.publicKey, nonce, response);
  },
  "with a response mixed from two challenges": async ({ attacker, victim }) => {
    const first = await attacker.statement(victim.own.publicKey);
    const response = provePossession(first, victim.own.privateKey);
    return async () => {
      const second = await attacker.statement(victim.own.publicKey);
      return attacker.register(victim.own.publicKey, second.nonce, response);
    };
  },
  "with a response mixed from two keys": ({ attacker, victim }) =>
    Promise.resolve(async () => {
      const statement = await attacker.statement(attacker.own.publicKey);
      const response = provePossession(statement, attacker.own.privateKey);
      return attacker.register(victim.own.publicKey, statement.nonce, response);
    }),
  "with another user's response": async ({ attacker, victim }) => {
    const statement = await victim.statement(victim.own.publicKey);
    const response = provePossession(statement, victim.own.privateKey);
    return async () => {
      await attacker.statement(victim.own.publicKey);
      return attacker.register(victim.own.publicKey, statement.nonce, response);
    };
  },
  "with a response for another user's id": withResponse((statement, victim) =>
    provePossession({ ...statement, userID: victim.userID }, victim.own.privateKey),
  ),
  "with a response for another chain": withResponse((statement, victim) => {
    const registry = { chainId: 424242, contract: statement.registry?.contract ?? `0x${"42".repeat(20)}` };
    return provePossession({ ...statement, registry }, victim.own.privateKey);
  }),
  "with a response for another contract": withResponse((statement, victim) => {
    const registry = { chainId: statement.registry?.chainId ?? 1, contract: `0x${"43".repeat(20)}` };
    return provePossession({ ...statement, registry }, victim.own.privateKey);
  }),
  "with a response for another service": withResponse((statement, victim) =>
    provePossession({ ...statement, service: "https://keys.example" }, victim.own.privateKey),
  ),
  "with a response for a later expiry": withResponse((statement, victim) =>
    provePossession({ ...statement, expires: statement.expires + 1 }, victim.own.privateKey),
  ),
  "with a response to an expired challenge": ({ attacker }) =>
    Promise.resolve(async () => {
      const statement = await attacker.statement(attacker.own.publicKey);
      await attacker.expireChallenges();
      const response = provePossession(statement, attacker.own.privateKey);
      return attacker.register(attacker.own.publicKey, statement.nonce, response);
    }),
  "with a second response to a challenge": async ({ attacker }) => {
    const statement = await attacker.statement(attacker.own.publicKey);
    await attacker.register(attacker.own.publicKey, statement.nonce, new Uint8Array(32));
    const response = provePossession(statement, attacker.own.privateKey);
    return () => attacker.register(attacker.own.publicKey, statement.nonce, response);
  },
  "with a malformed point": withPoints([
    new Uint8Array(),
    valid.subarray(0, 104),
    valid.with(0, 2),
    encode({ x: P, y: 34n }),
    encode({ x: 1n, y: 2n }),
  ]),
  "with a point of small order": withPoints([ofOrderTwo, ofOrderFour, ofOrderEight].map(encode)),
  "with the identity point": withPoints([encode(IDENTITY)]),
  "with a point in the wrong subgroup": withPoints(
    [ofOrderTwo, ofOrderFour, ofOrderEight].map((torsion) => encode(add(onCurve, torsion))),
  ),
};

/** Returns the request fields for any bytes, even for bytes that are not a point. */
function fieldsOf(publicKey: Uint8Array): { public_key: string; key_id: string } {
  const key_id = createHash("sha256").update(publicKey).digest().subarray(0, 16).toString("base64");
  return { public_key: bytesToBase64(publicKey), key_id };
}
