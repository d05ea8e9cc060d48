import { expect } from "chai";
import { randomBytes } from "node:crypto";
import { ERROR_CODES } from "../../../packages/keyroot/src/errors.ts";
import type { Region } from "../../../packages/keyroot/src/identity/region.ts";

/** What the service answered. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  body: Record<string, unknown>;
}

/** What a request carries beside its body. */
export interface Carried {
  token?: string;
  idempotencyKey?: string;
  headers?: Record<string, string>;
}

/** A partner company, with its server's tokens. */
export interface TestPartner {
  bizID: string;
  refreshToken: string;
  tokenID: string;
  jwt: string;
}

/** A partner's user, with the tokens of their app. */
export interface TestUser {
  hex: string;
  userID: string;
  refreshToken: string;
  jwt: string;
}

/** Sends requests to a service, as partners, users and the operator do. */
export class Caller {
  /** `http://<address>:<port>` */
  url = "";
  /** The operator's. */
  readonly adminToken: string;

  constructor(adminToken: string) {
    this.adminToken = adminToken;
  }

  /** Sends a JSON body; a text goes as it stands. */
  async post(path: string, body: unknown, { token, idempotencyKey, headers }: Carried = {}): Promise<Answer> {
    const response = await fetch(this.url + path, {
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

  async get(path: string): Promise<Answer> {
    return answerOf(await fetch(this.url + path));
  }

  /** Sends a request that must succeed, and returns the answer's body. */
  async done(path: string, body: unknown, carried: Carried = {}): Promise<Record<string, unknown>> {
    const answer = await this.post(path, body, carried);
    expect(answer.status, answer.text).to.be.below(300);
    return answer.body;
  }

  /** As the operator. */
  admin(path: string, body: unknown): Promise<Record<string, unknown>> {
    return this.done(path, body, { token: this.adminToken });
  }

  async exchange(bizID: string, token: string): Promise<string> {
    return (await this.done("/v1/public/auth/jwt", { biz_id: bizID, token }))["jwt"] as string;
  }

  async makePartner(name = "A company"): Promise<TestPartner> {
    const bizID = (await this.admin("/v1/admin/partners/create", { name }))["biz_id"] as string;
    return { bizID, ...(await this.makeServerToken(bizID)) };
  }

  async makeServerToken(bizID: string): Promise<Omit<TestPartner, "bizID">> {
    const made = await this.admin("/v1/admin/serverTokens/create", { biz_id: bizID });
    const refreshToken = made["token"] as string;
    return { refreshToken, tokenID: made["token_id"] as string, jwt: await this.exchange(bizID, refreshToken) };
  }

  async makeUser({ bizID, jwt }: TestPartner, region: Region = "us-west-2", hex = randomHex()): Promise<TestUser> {
    const created = await this.done("/v1/authdBizSrv/users/create", { user_id_hex: hex, region }, { token: jwt });
    const path = "/v1/authdBizSrv/users/createRefreshToken";
    const made = await this.done(path, { user_id_hex: hex, context: "A phone" }, { token: jwt });
    const refreshToken = made["token"] as string;
    return {
      hex,
      userID: created["user_id"] as string,
      refreshToken,
      jwt: await this.exchange(bizID, refreshToken),
    };
  }
}

/** A user id that nobody has: 40 hex digits. */
export function randomHex(): string {
  return randomBytes(20).toString("hex");
}

/** Holds an answer to the form of every refusal (RFC 9457), and to this status and code where they are given. */
export function expectProblem(
  { status, headers, text, body }: Answer,
  expected?: [status: number, code: string],
): void {
  if (expected) expect([status, body["code"]], text).to.deep.equal(expected);
  expect(status, text).to.be.within(400, 599);
  expect(headers.get("content-type")).to.match(/^application\/problem\+json(; charset=utf-8)?$/);
  expect(body).to.include.all.keys("type", "title", "status", "code", "detail", "instance");
  expect(Object.keys(body).filter((key) => key !== "errors")).to.have.length(6);
  expect(body["status"]).to.equal(status);
  expect(body["code"]).to.be.oneOf([...ERROR_CODES]);
  expect(body["type"]).to.equal(`urn:keyroot:error:${body["code"] as string}`);
  expect(body["instance"]).to.equal(headers.get("x-request-id"));
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
