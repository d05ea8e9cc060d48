import { ANSWER } from "../answers.ts";
import { readServerToken as readTokenMetadata, type ServerToken } from "../partner/answers.ts";
import { LOWERCASE_HASH } from "../../ethereum/hash.ts";
import { MERKLE_ROOT } from "../../merkle/hash.ts";

/** A partner that `createPartner` created. */
export type CreatedPartner = ReturnType<typeof readPartner>;

/** A server's refresh token that `createServerToken` created. */
export type CreatedServerToken = ReturnType<typeof readServerToken>;

/** An invitation that `invite` created. */
export type StaffInvitation = ReturnType<typeof readInvitation>;

/** A batch of keys that `publish` published. */
export type PublishedBatch = ReturnType<typeof readBatches>[number];

const BIZ_ID = /^[\x21-\x7e]{1,64}$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** More than the largest answer can hold. */
const MAX_BATCHES = 2 ** 16;

export function readPartner(answer: unknown, where = "partner") {
  const { biz_id, name, created } = ANSWER.fields(where, answer, ["biz_id", "name", "created"]);
  return {
    /** The partner's business identifier. */
    biz_id: ANSWER.text(`${where}.biz_id`, biz_id, BIZ_ID),
    name: ANSWER.text(`${where}.name`, name),
    /** Milliseconds since 1970. */
    created: ANSWER.count(`${where}.created`, created),
  };
}

/** A partner with its numbers. */
export type PartnerSummary = ReturnType<typeof readPartnerSummary>;

/** The metadata of a server token, and the partner whose token it is. */
export interface RevokedServerToken extends ServerToken {
  biz_id: string;
}

export function readPartnerSummary(where: string, answer: unknown) {
  const fields = ["suspended", "user_limit", "users", "pending_keys", "published_keys", "server_tokens"] as const;
  const { suspended, user_limit, ...numbers } = ANSWER.fields(where, answer, fields);
  return {
    ...readPartner(answer, where),
    /** Milliseconds since 1970; null if the partner is not suspended. */
    suspended: suspended === null ? null : ANSWER.count(`${where}.suspended`, suspended),
    /** The most users that the partner may have; null for any number. */
    user_limit: user_limit === null ? null : ANSWER.count(`${where}.user_limit`, user_limit),
    users: ANSWER.count(`${where}.users`, numbers.users),
    /** Registered public keys that are not on the chain. */
    pending_keys: ANSWER.count(`${where}.pending_keys`, numbers.pending_keys),
    published_keys: ANSWER.count(`${where}.published_keys`, numbers.published_keys),
    /** Active refresh tokens of the partner's servers. */
    server_tokens: ANSWER.count(`${where}.server_tokens`, numbers.server_tokens),
  };
}

export function readPartnerPage(answer: unknown, limit: number): { items: PartnerSummary[]; next: string | null } {
  const { partners, next } = ANSWER.fields("The answer", answer, ["partners", "next"]);
  return {
    items: ANSWER.list("partners", partners, limit, readPartnerSummary),
    next: next === null ? null : ANSWER.text("next", next, BIZ_ID),
  };
}

export function readRevokedToken(answer: unknown): RevokedServerToken {
  const { biz_id } = ANSWER.fields("The answer", answer, ["biz_id"]);
  return { biz_id: ANSWER.text("biz_id", biz_id, BIZ_ID), ...readTokenMetadata("token", answer) };
}

export function readServerToken(answer: unknown) {
  const fields = ["token_id", "token", "name", "created"] as const;
  const { token_id, token, name, created } = ANSWER.fields("The answer", answer, fields);
  return {
    /** A UUID. */
    token_id: ANSWER.text("token_id", token_id, UUID),
    /** The token: `krs_` and 256 random bits. The service shows it this once. */
    token: ANSWER.secret("token", token, /^krs_[\x21-\x7e]{1,495}$/),
    name: name === null ? null : ANSWER.text("name", name),
    /** Milliseconds since 1970. */
    created: ANSWER.count("created", created),
  };
}

export function readInvitation(answer: unknown) {
  const fields = ["person_id", "name", "role", "url", "expires"] as const;
  const { person_id, name, role, url, expires } = ANSWER.fields("The answer", answer, fields);
  return {
    /** A UUID. */
    person_id: ANSWER.text("person_id", person_id, UUID),
    name: ANSWER.text("name", name),
    /** `administrator` or `reader`. */
    role: ANSWER.text("role", role, /^(?:administrator|reader)$/),
    /** The link for the person. It works once; the service shows it this once. */
    url: ANSWER.secret("url", url, /^https?:\/\/[\x21-\x7e]{1,2000}$/),
    /** When the link expires, in milliseconds since 1970. */
    expires: ANSWER.count("expires", expires),
  };
}

export function readBatches(answer: unknown) {
  const { batches } = ANSWER.fields("The answer", answer, ["batches"]);
  return ANSWER.list("batches", batches, MAX_BATCHES, (where, batch) => {
    const fields = ["root", "users", "transaction", "block"] as const;
    const { root, users, transaction, block } = ANSWER.fields(where, batch, fields);
    return {
      /** The Merkle root: 64 hex digits. */
      root: ANSWER.text(`${where}.root`, root, MERKLE_ROOT),
      /** The number of users who now have this root. */
      users: ANSWER.count(`${where}.users`, users),
      /** The hash of the transaction that added the root: 0x and 64 hex digits. */
      transaction: ANSWER.text(`${where}.transaction`, transaction, LOWERCASE_HASH),
      /** The number of its block. */
      block: ANSWER.count(`${where}.block`, block),
    };
  });
}
