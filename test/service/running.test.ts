import { expect } from "chai";
import { Client } from "pg";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { mock } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { readConfig } from "../../packages/service/src/config/readConfig.ts";
import {
  type RunningService,
  startService,
  type StartServiceOptions,
} from "../../packages/service/src/serve/startService.ts";
import { runAt } from "../support/postgres/postgres.ts";
import { closedAfterEach, failure, freePort, temporaryFolder } from "../support/support.ts";
import { type BrokenWire, wireTo } from "../support/service/brokenWire.ts";
import { Caller, expectProblem, randomHex, type TestPartner } from "../support/service/caller.ts";
import { ADMIN_TOKEN, migratedDatabaseUrl, serviceVariables, SIGNING_JWK } from "../support/service/support.ts";

const CREATE = "/v1/authdBizSrv/users/create";
const START_SERVICE = new URL("../../packages/service/src/serve/startService.ts", import.meta.url).href;
/** A program that runs the service in a separate process. Environment variables configure it. */
const PROGRAM = `
  import { startService } from ${JSON.stringify(START_SERVICE)};
  const service = await startService();
  process.once("SIGTERM", () => service.close());
  console.log(JSON.stringify(service));`;

type Urls = Pick<RunningService, "url" | "monitoringUrl">;

function callerOf({ url, monitoringUrl = "" }: Urls): Caller {
  return Object.assign(new Caller(ADMIN_TOKEN), { url, monitoringUrl });
}

describe("a running service", () => {
  const folder = temporaryFolder();
  const closing = closedAfterEach();
  let url: string;

  before(async () => {
    url = await migratedDatabaseUrl();
  });

  /** Starts a service in this process. It is closed after the test. */
  async function start(variables: Record<string, string> = {}, options: StartServiceOptions = {}) {
    const common = { ...(await serviceVariables(folder.path)), DATABASE_URL: url, KEYROOT_LOG_LEVEL: "silent" };
    return closing(await startService({ ...readConfig({ ...common, ...variables }), ...options }));
  }

  describe("its port", () => {
    it("is the next free one in a local stack, also if two services start together", async () => {
      const port = await freePort();
      const options = { port, nextFreePort: true, monitoringPort: null };
      const [one, other] = await Promise.all([start({}, options), start({}, options)]);
      const ports = [one, other].map(({ url }) => Number(new URL(url).port));
      expect(new Set(ports)).to.have.lengthOf(2).and.to.include(port);
      for (const { url } of [one, other]) expect((await fetch(`${url}/openapi.json`)).status).to.equal(200);
    });

    it("is only the configured one otherwise", async () => {
      const running = await start();
      const error = await failure(start({}, { port: Number(new URL(running.url).port) }));
      expect(error).to.include({ name: "TransportError", code: "PORT_UNAVAILABLE" });
    });
  });

  describe("when it stops", () => {
    /** Starts a service in this process, with a request that waits for a lock until `release` is called. */
    async function withRequestInProgress() {
      const running = await start();
      const service = callerOf(running);
      const partner = await service.createPartner();
      const blocker = new Client({ connectionString: url });
      await blocker.connect();
      await blocker.query("BEGIN; LOCK TABLE users");
      const body = { user_id_hex: randomHex(), region: "us-west-2" };
      const inProgress = service.post(CREATE, body, { token: partner.jwt });
      const waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'users'::regclass";
      while ((await blocker.query(waiting)).rowCount === 0) await sleep(10);
      return {
        running,
        inProgress,
        release: async () => {
          await blocker.query("COMMIT");
          await blocker.end();
        },
      };
    }

    it("finishes the request in progress", async () => {
      const { running, inProgress, release } = await withRequestInProgress();
      const closed = running.close();
      await sleep(50);
      // New requests are rejected by the closed port or with 503.
      const late = await fetch(`${running.monitoringUrl}/readyz`).catch((error: unknown) => error);
      if (late instanceof Response) expect(late.status).to.equal(503);
      await release();
      const { status, body } = await inProgress;
      expect([status, body["region"]]).to.deep.equal([201, "us-west-2"]);
      await closed;
      expect(await failure(fetch(`${running.url}/healthz`))).to.be.instanceOf(TypeError);
    });
  });

  describe("when it stops with a delay", () => {
    it("accepts requests during the delay but is no longer ready", async () => {
      const running = await start({ KEYROOT_SHUTDOWN_DELAY: "1" });
      const service = callerOf(running);
      const list = (partner: { jwt: string }) => service.post("/v1/authdBizSrv/users/list", {}, { token: partner.jwt });
      const partner = await service.createPartner();
      expect((await list(partner)).headers.get("connection")).to.equal("keep-alive");
      let isClosed = false;
      const closed = running.close().then(() => (isClosed = true));
      expectProblem(await service.monitor("/readyz"), [503, "UNAVAILABLE"]);
      // Send requests over an open connection and over new connections.
      for (let i = 0; i < 3; i++) {
        const { status, headers } = await list(partner);
        expect([status, headers.get("connection")]).to.deep.equal([200, "close"]);
      }
      expect(isClosed).to.equal(false);
      await closed;
      expect(await failure(list(partner))).to.be.instanceOf(TypeError);
    });
  });

  describe("its pages for monitoring and documentation", () => {
    it("include /healthz, /readyz and /metrics", async () => {
      const running = await start();
      const service = callerOf(running);
      const partner = await service.createPartner("A company of few words");
      const user = await service.createUser(partner);
      await service.post("/v1/nowhere", {});
      expect((await service.monitor("/healthz")).body).to.deep.equal({ status: "ok" });
      expect((await service.monitor("/readyz")).body).to.deep.equal({ status: "ready" });
      const { status, headers, text: metrics } = await service.monitor("/metrics");
      expect([status, headers.get("content-type")?.split(";")[0]]).to.deep.equal([200, "text/plain"]);
      const count = `http_request_duration_seconds_count{method="POST",route="${CREATE}",status="201"} 1`;
      expect(metrics).to.include(count);
      expect(metrics).to.include('route="none",status="404"');
      for (const secret of [partner.bizID, partner.jwt, user.userID, user.hex, "few words", "nowhere"])
        expect(metrics).not.to.include(secret);
      for (const path of ["/healthz", "/readyz", "/metrics"])
        expectProblem(await service.get(path), [404, "OPERATION_UNKNOWN"]);
      expect((await fetch(service.monitoringUrl + CREATE, { method: "POST" })).status).to.equal(404);
    });

    it("include a start page with links", async () => {
      const running = await start({ KEYROOT_EXPLORER_URL: "https://explorer.example/?a=1&b=2" });
      const { status, headers, text: page } = await callerOf(running).get("/");
      expect([status, headers.get("content-type")]).to.deep.equal([200, "text/html; charset=utf-8"]);
      const links = Array.from(page.matchAll(/href="([^"]+)"/g), ([, href]) => href);
      expect(links).to.deep.equal(["/docs", "/dashboard/", "https://explorer.example/?a=1&amp;b=2"]);
    });

    it("accept a limited number of requests per address and minute", async () => {
      const running = await start({ KEYROOT_RATE_LIMIT: "20" });
      const service = callerOf(running);
      const answers = await Promise.all(Array.from({ length: 30 }, () => service.monitor("/readyz")));
      expect(answers.filter(({ status }) => status === 200)).to.have.length(20);
      for (const answer of answers) if (answer.status !== 200) expectProblem(answer, [429, "RATE_LIMITED"]);
      expectProblem(await service.monitor("/metrics"), [429, "RATE_LIMITED"]);
      // Probes and callers have separate limits.
      expectProblem(await service.post(CREATE, {}), [401, "ACCESS_TOKEN_MISSING"]);
    });

    it("are not served without a monitoring port", async () => {
      const running = await start({}, { monitoringPort: null });
      expect(running.monitoringUrl).to.equal(undefined);
    });

    it("make the start fail if the monitoring port is in use", async () => {
      const running = await start();
      const port = Number(new URL(running.monitoringUrl ?? "").port);
      const error = await failure(start({}, { monitoringPort: port }));
      expect(error).to.include({ name: "TransportError", code: "PORT_UNAVAILABLE" });
    });

    it("include the OpenAPI documents", async () => {
      const running = await start();
      const service = callerOf(running);
      for (const path of ["/openapi.json", "/openapi-operator.json"])
        expect((await service.get(path)).body["openapi"]).to.match(/^3\.1/);
      for (const path of ["/docs/", "/docs/operator/"]) {
        const page = await service.get(path);
        expect(page.status).to.equal(200);
        expect(page.headers.get("content-security-policy")).to.match(/^default-src 'none'; style-src/);
        expect(page.text).not.to.match(/<script|src="(?!data:)|url\(/);
      }
    });
  });

  describe("its hourly tasks", () => {
    const HOUR = 60 * 60 * 1000;
    let wire: BrokenWire;
    let service: Caller;
    let close: () => Promise<void>;

    beforeEach("create a token that is 24 hours old, with an Idempotency-Key", async () => {
      // Only intervals are mocked, so that the test does not wait for an hour.
      mock.timers.enable({ apis: ["setInterval"] });
      wire = await wireTo(url);
      const running = await start({ DATABASE_URL: wire.url });
      close = () => running.close();
      service = callerOf(running);
      const partner = await service.createPartner();
      const { hex } = await service.createUser(partner);
      const options = { token: partner.jwt, idempotencyKey: randomHex() };
      const body = { user_id_hex: hex, context: "A watch" };
      await service.post("/v1/authdBizSrv/users/createRefreshToken", body, options);
      await runAt(url, `UPDATE user_tokens SET created = created - ${24 * HOUR + 1}`);
    });
    afterEach(async () => {
      await close();
      mock.timers.reset();
      await wire.close();
    });

    async function sealedCopies(): Promise<number> {
      return (await runAt(url, "SELECT FROM user_tokens WHERE sealed_token IS NOT NULL")).length;
    }

    it("delete sealed copies of tokens older than 24 hours", async () => {
      mock.timers.tick(HOUR - 1);
      expect((await service.monitor("/readyz")).status).to.equal(200);
      expect(await sealedCopies()).to.equal(1);
      mock.timers.tick(1);
      while ((await sealedCopies()) !== 0) await sleep(5);
    });

    it("run again after the database was unreachable an hour before", async () => {
      wire.cut();
      mock.timers.tick(HOUR);
      expect((await service.monitor("/readyz")).status).to.equal(503);
      wire.mend();
      expect((await service.monitor("/readyz")).status).to.equal(200);
      expect(await sealedCopies()).to.equal(1);
      mock.timers.tick(HOUR);
      while ((await sealedCopies()) !== 0) await sleep(5);
    });

    it("send no query after the service was closed", async () => {
      await close();
      close = () => Promise.resolve();
      mock.timers.tick(HOUR);
      await sleep(50);
      expect(await sealedCopies()).to.equal(1);
    });
  });

  describe("its log", () => {
    let child: ChildProcess;
    let wire: BrokenWire;
    let log: Promise<string>;
    let service: Caller;
    let partner: TestPartner;

    beforeEach(async () => {
      wire = await wireTo(url);
      await start();
    });
    afterEach(async () => {
      await kill();
      await wire.close();
    });

    async function start(variables: Record<string, string> = {}): Promise<void> {
      const { PATH, NODE_COMPILE_CACHE } = process.env;
      child = spawn(process.execPath, ["--input-type=module", "--eval", PROGRAM], {
        stdio: ["ignore", "pipe", "pipe"],
        env: {
          PATH,
          NODE_COMPILE_CACHE,
          ...(await serviceVariables(folder.path)),
          DATABASE_URL: wire.url,
          ...variables,
        },
      });
      log = text(child.stderr as NodeJS.ReadableStream as never);
      const [line] = (await once(createInterface(child.stdout as NodeJS.ReadableStream), "line")) as [string];
      service = callerOf(JSON.parse(line) as Urls);
      partner = await service.createPartner();
    }

    async function kill(): Promise<void> {
      if (child.exitCode === null && child.kill("SIGKILL")) await once(child, "exit");
    }

    /** Stops the service and returns the lines of its log. */
    async function linesAtEnd(): Promise<Record<string, unknown>[]> {
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      expect(await exited).to.deep.equal([0, null]);
      const lines = (await log).trim().split("\n");
      return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    }

    it("contains one JSON object per line with the request id", async () => {
      const good = await service.post(
        CREATE,
        { user_id_hex: randomHex(), region: "us-west-2" },
        { token: partner.jwt },
      );
      const bad = await service.post(CREATE, {}, { token: partner.jwt });
      const lines = await linesAtEnd();
      for (const line of lines) {
        expect(line).to.include.all.keys("level", "time", "msg");
        expect(["info", "warn", "error", "fatal"]).to.include(line["level"]);
      }
      const linesOf = ({ headers }: { headers: Headers }) =>
        lines.filter(({ request_id }) => request_id === headers.get("x-request-id"));
      expect(linesOf(good).some(({ res }) => (res as { status?: number } | undefined)?.status === 201)).to.equal(true);
      expect(linesOf(good).some(({ req }) => (req as { path?: string } | undefined)?.path === CREATE)).to.equal(true);
      expect(linesOf(bad).some(({ code }) => code === "FIELD_MISSING")).to.equal(true);
    });

    it("contains no token, key or password, even if queries fail", async () => {
      const user = await service.createUser(partner);
      const [context, forbidden, idempotencyKey] = ["context-in-log", "forbidden-in-log", randomHex()];
      const path = "/v1/authdBizSrv/users/createRefreshToken";
      const token = partner.jwt;
      const create = (what: string) =>
        service.post(path, { user_id_hex: user.hex, context: what }, { token, idempotencyKey });
      await create(context);
      await service.post("/v1/public/auth/jwt", { biz_id: partner.bizID, token: "krs_wrong-in-log" });
      await service.post("/v1/public/auth/jwt", `{"token":"${partner.refreshToken}`);
      await service.post(`/v1/nowhere?token=${partner.refreshToken}`, {});
      await service.post(CREATE, {}, { token: "bad-token-in-log" });

      wire.cut();
      expectProblem(await create(forbidden), [503, "UNAVAILABLE"]);
      wire.mend();
      const violated = "ALTER TABLE user_tokens ADD CONSTRAINT no_more CHECK (context <> 'forbidden-in-log')";
      await runAt(url, violated);
      const { status } = await service.post(path, { user_id_hex: user.hex, context: forbidden }, { token });
      await runAt(url, "ALTER TABLE user_tokens DROP CONSTRAINT no_more");
      await runAt(url, "ALTER TABLE users RENAME COLUMN salt TO pepper");
      const answer = await service.post(CREATE, { user_id_hex: randomHex(), region: "us-west-2" }, { token });
      await runAt(url, "ALTER TABLE users RENAME COLUMN pepper TO salt");
      expect(status).to.equal(500);
      expectProblem(answer, [500, "DEFECT"]);

      const lines = await linesAtEnd();
      const all = JSON.stringify(lines);
      // The log contains the statement and its error.
      expect(all).to.include("A query failed: insert into");
      expect(all).to.include("no_more").and.include("salt");
      const { password } = new URL(url);
      const secrets = [
        context,
        forbidden,
        idempotencyKey,
        partner.refreshToken,
        user.refreshToken,
        partner.jwt,
        user.jwt,
      ];
      for (const secret of [
        ...secrets,
        "krs_wrong-in-log",
        "bad-token-in-log",
        ADMIN_TOKEN,
        password,
        SIGNING_JWK.d ?? "",
      ])
        expect(all).not.to.include(secret);
      for (const word of ["Bearer", "authorization", user.hex]) expect(all).not.to.include(word);
    });

    it("contains no token that was sent in a path or a query", async () => {
      const { refreshToken, jwt } = partner;
      const secrets = [refreshToken, jwt, ADMIN_TOKEN, randomHex(), encodeURIComponent(`${refreshToken}=`)];
      for (const secret of [...secrets, refreshToken.replace("k", "%6b")]) {
        for (const path of [`/v1/${secret}`, `/v1/a/${secret}/b`, `${CREATE}/${secret}`, `/docs/${secret}`])
          await service.get(path);
        for (const path of [`${CREATE}?token=${secret}`, `/v1/x?${secret}`, `/v1/%zz/${secret}`])
          await service.post(path, {});
      }
      await service.get("/v1/short/words");
      const all = JSON.stringify(await linesAtEnd());
      for (const secret of [...secrets, ...jwt.split(".")]) expect(all).not.to.include(secret.slice(0, 20));
      expect(all).not.to.include(refreshToken.slice(-20));
      expect(all).to.include('"/v1/<redacted>"').and.include('"/v1/short/words"');
    });

    it("contains the proxy's address if the forwarded address is invalid", async () => {
      await kill();
      await start({ KEYROOT_TRUSTED_PROXIES: "127.0.0.1" });
      for (const from of ["192.0.2.1", partner.refreshToken])
        await service.post(CREATE, {}, { headers: { "X-Forwarded-For": from } });
      const ips = (await linesAtEnd()).flatMap(({ req }) => (req as { ip?: string } | undefined)?.ip ?? []);
      expect(ips.slice(-2)).to.deep.equal(["192.0.2.1", "127.0.0.1"]);
    });

    it("contains one line per request below the rate limit", async () => {
      await kill();
      await start({ KEYROOT_RATE_LIMIT: "1000" });
      const statuses: number[] = [];
      for (let i = 0; i < 105; i++) statuses.push((await service.post(CREATE, {})).status);
      expect(statuses.indexOf(429)).to.equal(100);
      expect(new Set(statuses.slice(100))).to.deep.equal(new Set([429]));
      const lines = await linesAtEnd();
      const codes = lines.flatMap(({ code }) => (typeof code === "string" ? [code] : []));
      expect(codes).to.deep.equal(Array.from({ length: 100 }, () => "ACCESS_TOKEN_MISSING"));
    });

    it("omits successful monitoring requests", async () => {
      for (const path of ["/healthz", "/readyz", "/metrics"] as const) await service.monitor(path);
      const paths = (await linesAtEnd()).map(({ req }) => (req as { path?: string } | undefined)?.path);
      for (const path of ["/healthz", "/readyz", "/metrics"]) expect(paths).not.to.include(path);
    });

    it("omits entries below its level", async () => {
      await kill();
      await start({ KEYROOT_LOG_LEVEL: "fatal" });
      wire.cut();
      expect((await service.monitor("/readyz")).status).to.equal(503);
      await kill();
      expect(await log).to.equal("");
    });
  });
});
