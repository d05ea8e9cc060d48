import { expect } from "chai";
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readConfig, readPublisherConfig } from "../../packages/service/src/config/readConfig.ts";
import { startService } from "../../packages/service/src/serve/startService.ts";
import { blocksOf, readPage, variablesIn } from "../support/pages.ts";
import { freePort } from "../support/servers/ports.ts";
import { untilReady } from "../support/servers/untilReady.ts";
import { temporaryFolder } from "../support/support.ts";
import { ADMIN_TOKEN, migratedDatabaseUrl, SIGNING_JWK } from "../support/service/support.ts";

const page = await readPage("docs/install.md");

const blocks = (language: string, heading: string) => blocksOf(page, language, heading);
const isInstalled = (program: string) => spawnSync(program, ["--version"]).error === undefined;

describe("docs/install.md", () => {
  const folder = temporaryFolder();

  it("configures a service with valid variables", () => {
    const [, environment = ""] = /<<END\n([^]*?)END\n/.exec(blocks("sh", "Configure")[0] ?? "") ?? [];
    const token = "$(openssl rand -hex 32)";
    expect(environment).to.include(token);
    const config = readConfig(variablesIn(environment.replace(token, ADMIN_TOKEN)));
    expect(config).to.include({ stage: "prod", databaseUrl: "postgres:///keyroot?host=/run/postgresql" });
    const publishing = variablesIn(blocks("ini", "Publish registered keys")[0] ?? "");
    expect(
      readPublisherConfig({ ...publishing, KEYROOT_CONTRACT: `0x${"a".repeat(40)}` }).chain.confirmations,
    ).to.equal(6);
  });

  describe("systemd units", () => {
    const [migrate = "", service = ""] = blocks("ini", "Run");
    const [, publisher = ""] = blocks("ini", "Publish registered keys");

    it("and the one of docs/watching.md are valid according to systemd-analyze", async function () {
      if (!isInstalled("systemd-analyze")) this.skip(); // Only Linux with systemd has this program.
      const installed = (unit: string) => unit.replaceAll("/opt/keyroot/node_modules/.bin/keyroot", process.execPath);
      const [watch = ""] = blocksOf(await readPage("docs/watching.md"), "ini", "On a server");
      const units = {
        ...{ "keyroot-migrate.service": migrate, "keyroot.service": service, "keyroot-publisher.service": publisher },
        ...{ "keyroot-watch.service": watch },
      };
      for (const [name, unit] of Object.entries(units)) {
        await writeFile(join(folder.path, name), installed(unit));
        const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", join(folder.path, name)], {
          encoding: "utf8",
          // systemd searches this folder first, so it also checks the units in `After=`.
          env: { ...process.env, SYSTEMD_UNIT_PATH: `${folder.path}:` },
        });
        const about = stderr.split("\n").filter((line) => line.includes(folder.path) || line.includes("keyroot"));
        expect([status, ...about]).to.deep.equal([0]);
      }
    });

    it("use the user, files and folders that the page creates", () => {
      for (const unit of [migrate, service]) {
        expect(unit)
          .to.match(/^User=keyroot$/m)
          .and.match(/^EnvironmentFile=\/etc\/keyroot\/keyroot\.env$/m);
      }
      expect(service).to.match(/^StateDirectory=keyroot$/m);
      expect(publisher)
        .to.match(/^User=keyroot-publisher$/m)
        .and.match(/^StateDirectory=.* keyroot-publisher\/files$/m);
      expect(publisher).to.match(/^EnvironmentFile=\/etc\/keyroot\/publisher\.env$/m);
    });
  });

  it("creates folders and files with the modes in the table", async () => {
    const root = folder.path;
    const [table = ""] = /^\| Path +\| Owner[^]*?\n\n/m.exec(page) ?? [];
    const rows = table.matchAll(/^\| `(?<path>[^`]+)` +\|[^|]*\| (?<mode>\d{4}) \|/gm);
    const modes = new Map([...rows].map(({ groups }) => [groups?.["path"], groups?.["mode"]]));
    const keyroot = `echo '{}' > ${root}/etc/keyroot/signing-keys.json; : `;
    const script = [...blocks("sh", "Install").slice(0, 1), ...blocks("sh", "Configure")]
      .join("\n")
      .replace(/^(?:npm|adduser|chgrp) .*$/gm, "")
      .replace(/ -o \w+ -g \w+/g, "")
      .replaceAll("/opt/keyroot/node_modules/.bin/keyroot", keyroot)
      .replaceAll("/etc/keyroot", `${root}/etc/keyroot`)
      .replaceAll(`${root}${root}`, root);
    execFileSync("sh", ["-e", "-c", `umask 022; mkdir ${root}/etc; ${script}`]);
    for (const path of ["/etc/keyroot", "/etc/keyroot/keyroot.env", "/etc/keyroot/signing-keys.json"]) {
      const { mode } = await stat(root + path);
      expect(`0${(mode & 0o777).toString(8)}`, path).to.equal(modes.get(path));
    }
  });

  describe("proxy configuration", () => {
    const INTERNAL = [
      "/healthz",
      "/readyz",
      "/metrics",
      "/v1/admin/publishRegistered",
      "/docs/operator",
      "/docs/operator/json",
    ];
    let service: { url: string; close(): Promise<void> };
    let files: string;

    beforeEach(async () => {
      const url = await migratedDatabaseUrl();
      const signingKeys = join(folder.path, "keys.json");
      await writeFile(signingKeys, JSON.stringify({ keys: [SIGNING_JWK] }), { mode: 0o600 });
      files = join(folder.path, "files");
      await mkdir(join(files, "accounts"), { recursive: true });
      await writeFile(join(files, "accounts", `${"a".repeat(40)}.txt`), "account");
      await writeFile(join(files, `${"a".repeat(64)}.json`), "{}");
      await writeFile(join(files, `.${"a".repeat(64)}.json.draft`), "{}");
      service = await startService({
        ...{ databaseUrl: url, signingKeys, serviceUrl: "https://keys.test", adminToken: ADMIN_TOKEN, port: 0 },
        ...{ logLevel: "silent", trustedProxies: ["127.0.0.1"], monitoringPort: 0 },
      });
    });
    afterEach(() => service.close());

    /** Checks the proxy's responses to API requests and file requests. */
    async function verifyProxy(proxy: ChildProcess, api: string, fileHost: string): Promise<void> {
      await untilReady(`${api}/openapi.json`, proxy);
      for (const path of [...INTERNAL, "/openapi-operator.json"])
        expect([path, (await fetch(api + path)).status]).to.deep.equal([path, 404]);
      expect((await fetch(`${api}/v1/admin/publishRegistered`, { method: "POST" })).status).to.equal(404);
      // The rate limit counts the proxy's caller. The caller's own X-Forwarded-For header has no effect.
      let status = 401;
      for (let i = 0; i <= 100 && status === 401; i++) {
        const headers = { "Content-Type": "application/json", "X-Forwarded-For": `192.0.2.${i}` };
        const body = JSON.stringify({ biz_id: "biz_1", token: "krs_1" });
        ({ status } = await fetch(`${api}/v1/public/auth/jwt`, { method: "POST", headers, body }));
      }
      expect(status).to.equal(429);
      const file = await fetch(`${fileHost}/${"a".repeat(64)}.json`);
      expect([file.status, file.headers.get("access-control-allow-origin")]).to.deep.equal([200, "*"]);
      expect(file.headers.get("content-type")).to.match(/^application\/json/);
      expect(file.headers.get("cache-control")).to.include("immutable");
      const account = await fetch(`${fileHost}/accounts/${"a".repeat(40)}.txt`);
      expect([account.status, account.headers.get("cache-control")]).to.deep.equal([200, null]);
      // A page of another origin can read the status of a missing file, which the browser must not cache.
      const missing = await fetch(`${fileHost}/${"b".repeat(64)}.json`);
      expect([missing.status, missing.headers.get("access-control-allow-origin")]).to.deep.equal([404, "*"]);
      expect(missing.headers.get("cache-control")).to.equal(null);
      expect((await fetch(`${fileHost}/.${"a".repeat(64)}.json.draft`)).status).to.equal(404);
    }

    it("forwards the API and hides internal paths with Caddy", async function () {
      if (!isInstalled("caddy")) this.skip(); // CI does not install Caddy.
      const [api, fileHost] = [await freePort(), await freePort()];
      const config = (blocks("caddyfile", "Put a TLS proxy in front")[0] ?? "")
        .replace("files.keys.example.com", `http://127.0.0.1:${fileHost}`)
        .replace("keys.example.com", `http://127.0.0.1:${api}`)
        .replace("127.0.0.1:8547", service.url.slice("http://".length))
        .replace("/var/lib/keyroot-publisher/files", files);
      const path = join(folder.path, "Caddyfile");
      await writeFile(path, `{\n\tadmin off\n}\n${config}`);
      const home = { ...process.env, HOME: folder.path, XDG_DATA_HOME: folder.path, XDG_CONFIG_HOME: folder.path };
      const caddy = spawn("caddy", ["run", "--config", path, "--adapter", "caddyfile"], { stdio: "ignore", env: home });
      const exited = once(caddy, "exit");
      try {
        await verifyProxy(caddy, `http://127.0.0.1:${api}`, `http://127.0.0.1:${fileHost}`);
      } finally {
        caddy.kill();
        await exited;
      }
    });

    it("forwards the API and hides internal paths with nginx", async function () {
      if (!isInstalled("nginx")) this.skip(); // CI does not install nginx.
      const [api, fileHost] = [await freePort(), await freePort()];
      const [apiServer = "", fileServer = ""] = (blocks("nginx", "Put a TLS proxy in front")[0] ?? "").split(
        /(?<=^}\n)\n/m,
      );
      const plain = (server: string, port: number) =>
        server
          .replace("listen 443 ssl;", `listen 127.0.0.1:${port};`)
          .replace(/ +ssl_certificate.*\n/g, "")
          .replace("http://127.0.0.1:8547", service.url)
          .replace("/var/lib/keyroot-publisher/files", files);
      // As root, nginx runs its workers as another user. That user cannot enter a temporary folder.
      const user = process.getuid?.() === 0 ? "user root;" : "";
      const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
        (name) => `${name}_temp_path ${folder.path}/${name};`,
      );
      const path = join(folder.path, "nginx.conf");
      await writeFile(
        path,
        `${user} daemon off; pid ${folder.path}/pid; error_log ${folder.path}/error.log; events {}
http { access_log off; types { application/json json; } ${temporary.join(" ")}
${plain(apiServer, api)} ${plain(fileServer, fileHost)} }`,
      );
      const nginx = spawn("nginx", ["-c", path], { stdio: "ignore" });
      const exited = once(nginx, "exit");
      try {
        await verifyProxy(nginx, `http://127.0.0.1:${api}`, `http://127.0.0.1:${fileHost}`);
      } finally {
        nginx.kill();
        await exited;
      }
    });
  });
});
