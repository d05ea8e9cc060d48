import { expect } from "chai";
import { randomBytes } from "node:crypto";
import { ERROR_CODES } from "../../../packages/keyroot/src/errors.ts";
import { CLIENT_ERROR_CODES } from "@keyroot/client/internal";
import { SERVICE_ERROR_CODES } from "../../../packages/service/src/api/base/errors.ts";
import type { KeyPair } from "../../../packages/keyroot/src/identity/newPublicKey.ts";
import type { Region } from "../../../packages/keyroot/src/identity/region.ts";
import { answerChallenge, keyFieldsOf } from "./answerChallenge.ts";

/** A response of the service. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  body: Record<string, unknown>;
}

/** The parts of a request in addition to its body. */
export interface RequestOptions {
  token?: string | undefined;
  idempotencyKey?: string | undefined;
  headers?: Record<string, string>;
}

/** A partner with the tokens of its server. */
export interface TestPartner {
  bizID: string;
  refreshToken: string;
  tokenID: string;
  jwt: string;
}

/** A user with the tokens of an app. */
export interface TestUser {
  hex: string;
  userID: string;
  refreshToken: string;
  jwt: string;
}

/** Sends a JSON body without retries. A string is sent as it is. */
export async function post(
  url: string,
  body: unknown,
  { token, idempotencyKey, headers }: RequestOptions = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(idempotencyKey !== undefined && { "Idempotency-Key": idempotencyKey }),
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return answerOf(response);
}

/** Sends requests to a service as a partner, a user or the operator. */
export class Caller {
  /** `http://<address>:<port>` */
  url: string;
  /** The URL of /healthz, /readyz and /metrics. */
  monitoringUrl = "";
  /** The operator's token. */
  readonly adminToken: string;

  constructor(adminToken: string, url = "") {
    this.adminToken = adminToken;
    this.url = url;
  }

  post(path: string, body: unknown, options?: RequestOptions): Promise<Answer> {
    return post(this.url + path, body, options);
  }

  async get(path: string): Promise<Answer> {
    return answerOf(await fetch(this.url + path));
  }

  /** Gets one of the paths for load balancers and monitoring, which have a separate port. */
  async monitor(path: "/healthz" | "/readyz" | "/metrics"): Promise<Answer> {
    return answerOf(await fetch(this.monitoringUrl + path));
  }

  /** Sends a request that must succeed, and returns the body of the response. */
  async done(path: string, body: unknown, carried: RequestOptions = {}): Promise<Record<string, unknown>> {
    const answer = await this.post(path, body, carried);
    expect(answer.status, answer.text).to.be.below(300);
    return answer.body;
  }

  /** Sends a request like `done`, with the admin token. */
  admin(path: string, body: unknown): Promise<Record<string, unknown>> {
    return this.done(path, body, { token: this.adminToken });
  }

  async exchange(bizID: string, token: string): Promise<string> {
    return (await this.done("/v1/public/auth/jwt", { biz_id: bizID, token }))["jwt"] as string;
  }

  async createPartner(name = "A company"): Promise<TestPartner> {
    const bizID = (await this.admin("/v1/admin/partners/create", { name }))["biz_id"] as string;
    return { bizID, ...(await this.createServerToken(bizID)) };
  }

  async createServerToken(bizID: string): Promise<Omit<TestPartner, "bizID">> {
    const created = await this.admin("/v1/admin/serverTokens/create", { biz_id: bizID });
    const refreshToken = created["token"] as string;
    return { refreshToken, tokenID: created["token_id"] as string, jwt: await this.exchange(bizID, refreshToken) };
  }

  async createUser({ bizID, jwt }: TestPartner, region: Region = "us-west-2", hex = randomHex()): Promise<TestUser> {
    const user = await this.done("/v1/authdBizSrv/users/create", { user_id_hex: hex, region }, { token: jwt });
    const path = "/v1/authdBizSrv/users/createRefreshToken";
    const created = await this.done(path, { user_id_hex: hex, context: "A phone" }, { token: jwt });
    const refreshToken = created["token"] as string;
    return {
      hex,
      userID: user["user_id"] as string,
      refreshToken,
      jwt: await this.exchange(bizID, refreshToken),
    };
  }

  /**
   * Registers a key as an app does, by answering the challenge. If there is none to answer, returns the response to the
   * request for a challenge.
   */
  async registerKey({ jwt: token }: Pick<TestUser, "jwt">, keys: KeyPair): Promise<Answer> {
    const challenge = await this.post("/v1/authdUser/publicKey/challenge", keyFieldsOf(keys), { token });
    if (challenge.status !== 200) return challenge;
    return this.post("/v1/authdUser/publicKey/register", answerChallenge(challenge.body, keys), { token });
  }
}

/** Reads all pages of a list. @param list gets the request's `after` field, unless it reads the first page */
export async function* pagesOf<Page extends { next?: unknown }>(
  list: (after: { after?: string }) => Promise<Page>,
): AsyncGenerator<Page> {
  let next: unknown;
  do {
    const page = await list(typeof next === "string" ? { after: next } : {});
    yield page;
    ({ next } = page);
  } while (typeof next === "string");
}

/** A random user id: 40 hex digits. */
export function randomHex(): string {
  return randomBytes(20).toString("hex");
}

/** Checks that a response is a problem (RFC 9457), with this status and code if they are given. */
export function expectProblem(
  { status, headers, text, body }: Answer,
  expected?: [status: number, code: string],
): void {
  if (expected) expect([status, body["code"]], text).to.deep.equal(expected);
  expect(status, text).to.be.within(400, 599);
  expect(headers.get("content-type")).to.match(/^application\/problem\+json(; charset=utf-8)?$/);
  expect(body).to.include.all.keys("type", "title", "status", "code", "detail", "request_id");
  const optional = ["errors", ...(body["code"] === "PUBLIC_KEY_REGISTERED" ? ["state", "hold_ends_at"] : [])];
  expect(Object.keys(body).filter((key) => !optional.includes(key))).to.have.length(6);
  expect(body["status"]).to.equal(status);
  expect(body["code"]).to.be.oneOf([...ERROR_CODES, ...CLIENT_ERROR_CODES, ...SERVICE_ERROR_CODES]);
  expect(body["type"]).to.equal(`urn:keyroot:error:${body["code"] as string}`);
  expect(body["request_id"]).to.equal(headers.get("x-request-id"));
  expect(text).not.to.match(/\bat .*:\d+:\d+|node_modules|\b(select|insert|update) "/);
  if (status === 401) expect(headers.get("www-authenticate")).to.match(/^Bearer/);
  if (status === 429 || status === 503) expect(headers.get("retry-after")).to.match(/^[1-9]\d*$/);
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") === true;
  const body = (isJson ? JSON.parse(text) : {}) as Record<string, unknown>;
  return { status: response.status, headers: response.headers, text, body };
}
