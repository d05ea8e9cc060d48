import { expect } from "chai";
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer as createHttpsServer } from "node:https";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { Webhook } from "standardwebhooks";
import { WebhookSecret } from "../../../packages/operator/src/http/webhookSecret.ts";
import {
  AddressRefusedError,
  checkedLookup,
  isPublicAddress,
  resolvePublicHost,
} from "../../../packages/service/src/webhooks/addresses.ts";
import { checkEndpointUrl } from "../../../packages/service/src/webhooks/endpointUrl.ts";
import { nextAttempt } from "../../../packages/service/src/webhooks/retries.ts";
import { WebhookSender, type WebhookSenderOptions } from "../../../packages/service/src/webhooks/sendWebhook.ts";
import { listen } from "../../../packages/operator/src/http/listen.ts";
import { startNameServer } from "../../support/servers/nameServer.ts";
import { serveRaw } from "../../support/servers/servers.ts";
import { startReceiver, type WebhookReceiver } from "../../support/service/webhookReceiver.ts";
import { failure, temporaryFolder } from "../../support/support.ts";

/** Addresses that are not public, by their entry in the IANA special-purpose address registries. */
const NOT_PUBLIC = {
  "this network (RFC 791)": ["0.0.0.0", "0.1.2.3"],
  "private (RFC 1918)": ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"],
  "shared (RFC 6598)": ["100.64.0.1", "100.127.255.255"],
  "loopback (RFC 1122)": ["127.0.0.1", "127.255.255.255", "::1"],
  "link-local (RFC 3927, RFC 4291), with the metadata of cloud machines": ["169.254.169.254", "fe80::1", "febf::1"],
  "IETF (RFC 6890)": ["192.0.0.1", "192.0.0.170", "192.88.99.1"],
  "documentation (RFC 5737, 3849, 9637)": ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1"],
  "benchmarks (RFC 2544, 5180)": ["198.18.0.1", "198.19.255.255", "2001:2::1"],
  "multicast (RFC 5771, 4291)": ["224.0.0.1", "239.255.255.255", "ff02::1"],
  "reserved (RFC 1112), broadcast": ["240.0.0.1", "255.255.255.255"],
  "unspecified (RFC 4291)": ["::"],
  "mapped IPv4 (RFC 4291)": ["::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:93.184.216.34", "::127.0.0.1"],
  "NAT64 with an IPv4 address that is not public (RFC 6052)": [
    ...["64:ff9b::127.0.0.1", "64:ff9b::a00:1", "64:ff9b::169.254.169.254", "64:ff9b::100.64.0.1", "64:ff9b::0.0.0.0"],
    ...["64:ff9b::192.168.1.1", "0064:ff9b:0000:0000:0000:0000:c0a8:0101"],
  ],
  "beside the prefix of NAT64": ["64:ff9b:0:0:0:1:5db8:d822", "64:ff9a::5db8:d822", "::5db8:d822"],
  "NAT64 for local use (RFC 8215)": ["64:ff9b:1::a00:1", "64:ff9b:1::5db8:d822", "64:ff9b:1:5db8:d8:2200::"],
  "6to4, Teredo (RFC 3056, 4380)": ["2002:7f00:1::1", "2002:a00:1::", "2001::1"],
  "unique local (RFC 4193), site-local (RFC 3879)": ["fc00::1", "fd12:3456::1", "fec0::1"],
  "discard, segment routing, unassigned": ["100::1", "5f00::1", "4000::1", "e000::1"],
  "no address": ["", "localhost", "1.2.3", "0x7f000001", "::ffff:127.0.0.1%1"],
};
const PUBLIC = [
  ...["93.184.216.34", "1.1.1.1", "100.63.255.255", "100.128.0.1", "172.32.0.1", "2606:4700::1111"],
  // NAT64 with a public IPv4 address (RFC 6052).
  ...["64:ff9b::93.184.216.34", "64:ff9b::5db8:d822", "0064:ff9b:0000:0000:0000:0000:5db8:d822"],
];

const SECRET = WebhookSecret.make();
const secrets = [new WebhookSecret(SECRET)];
const event = () => ({
  id: randomUUID(),
  type: "user.created" as const,
  userID: "y".repeat(32),
  data: { region: "eu-west-1" as const },
  at: 1_800_000_000_000,
});
const refusalOf = (url: string, allowPrivate = false) => {
  try {
    return checkEndpointUrl(url, allowPrivate);
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe("isPublicAddress", () => {
  for (const [range, addresses] of Object.entries(NOT_PUBLIC))
    it(`returns false for the IANA range "${range}"`, () => {
      for (const address of addresses) expect(isPublicAddress(address), address).to.equal(false);
    });

  it("returns true for public addresses", () => {
    for (const address of PUBLIC) expect(isPublicAddress(address), address).to.equal(true);
  });
});

describe("a webhook's URL", () => {
  it("is accepted with https and a host that may be public", () => {
    for (const url of ["https://example.com/", "https://example.com:8443/a?b=c", "https://93.184.216.34/"])
      expect(refusalOf(url)).to.equal(url);
    expect(refusalOf("https://EXAMPLE.com")).to.equal("https://example.com/");
  });

  it("is rejected without https or with a private host", () => {
    const hosts = [
      "127.0.0.1",
      "127.1",
      "0x7f.1",
      "2130706433",
      "017700000001",
      "[::1]",
      "[::ffff:127.0.0.1]",
      "10.0.0.1",
    ];
    hosts.push("localhost", "LOCALHOST.", "a.localhost", "machine", "a.local", "metadata.google.internal", "①②⑦.0.0.1");
    const urls = hosts.map((host) => `https://${host}/`);
    urls.push(
      "http://example.com/",
      "ftp://example.com/",
      "https://user:pass@example.com/",
      "https://user@example.com/",
    );
    urls.push(
      "https://example.com/#a",
      "https://example.com/#",
      "https://",
      "x",
      "",
      "javascript:alert(1)",
      "//example.com",
    );
    urls.push(`https://example.com/${"x".repeat(2048)}`);
    for (const url of urls) expect(refusalOf(url), url).to.equal("WEBHOOK_URL_REFUSED");
  });

  it("is accepted with http and a private host if the service allows them", () => {
    expect(refusalOf("http://127.0.0.1:8080/hook", true)).to.equal("http://127.0.0.1:8080/hook");
    for (const url of ["ftp://127.0.0.1/", "http://user@localhost/"])
      expect(refusalOf(url, true)).to.equal("WEBHOOK_URL_REFUSED");
  });
});

describe("the retries of a delivery", () => {
  const HOUR = 3_600_000;

  it("happen nine times in three days, with increasing delays", () => {
    let now = 0;
    const delays: number[] = [];
    for (let attempts = 1; ; attempts++) {
      const due = nextAttempt({ attempts, firstAttempt: 0, now }, 0);
      if (due === undefined) break;
      delays.push(due - now);
      now = due;
    }
    expect(delays).to.have.length(9);
    expect(delays).to.deep.equal([...delays].sort((a, b) => a - b));
    expect([delays[0], now / HOUR]).to.deep.equal([5000, 72 + 5 / 3600]);
  });

  it("have delays that are extended at random by up to a tenth", () => {
    let now = 0;
    let attempts = 0;
    for (let due: number | undefined = 0; due !== undefined; due = nextAttempt({ attempts, firstAttempt: 0, now }, 1)) {
      now = due;
      attempts++;
    }
    expect(attempts).to.equal(10);
    expect(Math.round((now / HOUR) * 10)).to.equal(792);
  });

  it("wait for the time in Retry-After, but at most a day", () => {
    const first = { attempts: 1, firstAttempt: 0, now: 0 };
    expect(nextAttempt({ ...first, retryAfterMs: HOUR }, 0)).to.equal(HOUR);
    expect(nextAttempt({ ...first, retryAfterMs: 1 }, 0)).to.equal(5000);
    expect(nextAttempt({ ...first, retryAfterMs: 1000 * HOUR }, 0)).to.equal(24 * HOUR);
  });
});

describe("WebhookSender.send", () => {
  let receiver: WebhookReceiver;
  const senders: WebhookSender[] = [];
  const senderWith = (options: WebhookSenderOptions = {}) => {
    const sender = new WebhookSender({ allowPrivate: true, ...options });
    senders.push(sender);
    return sender;
  };
  before(async () => {
    receiver = await startReceiver();
  });
  beforeEach(() => {
    receiver.received.splice(0);
    receiver.respond = (response) => response.writeHead(204).end();
  });
  after(async () => {
    for (const sender of senders) sender[Symbol.dispose]();
    await receiver.close();
  });

  it("sends messages that the standardwebhooks package verifies", async () => {
    const sent = { ...event(), data: { name: "ключ 🔑" } };
    expect(await senderWith().send(receiver.url, sent, secrets, Date.now())).to.deep.equal({
      status: 204,
      error: null,
    });
    const [{ headers, body } = { headers: {}, body: "" }] = receiver.received;
    const message = new Webhook(SECRET).verify(body, headers as Record<string, string>);
    expect(message).to.deep.equal({
      type: "user.created",
      at: sent.at,
      id: sent.id,
      data: { user_id: sent.userID, name: "ключ 🔑" },
    });
    expect(headers["webhook-id"]).to.equal(sent.id);
    expect(headers["content-type"]).to.equal("application/json");
    expect(() => new Webhook(WebhookSecret.make()).verify(body, headers as Record<string, string>)).to.throw();
    expect(() => new Webhook(SECRET).verify(`${body} `, headers as Record<string, string>)).to.throw();
  });

  it("adds one signature per secret", async () => {
    const texts = [WebhookSecret.make(), SECRET];
    const both = texts.map((text) => new WebhookSecret(text));
    await senderWith().send(receiver.url, event(), both, Date.now());
    const [{ headers, body } = { headers: {}, body: "" }] = receiver.received;
    for (const text of texts) new Webhook(text).verify(body, headers as Record<string, string>);
  });

  it("does not follow redirects", async () => {
    receiver.respond = (response) => response.writeHead(307, { Location: receiver.url }).end();
    const result = await senderWith().send(receiver.url, event(), secrets, Date.now());
    expect(result).to.deep.equal({ status: 307, error: "Redirects are not followed." });
    expect(receiver.received).to.have.length(1);
  });

  it("reports a failure's status and Retry-After", async () => {
    receiver.respond = (response) => response.writeHead(503, { "Retry-After": "120" }).end("no");
    const result = await senderWith().send(receiver.url, event(), secrets, Date.now());
    expect(result).to.deep.equal({
      status: 503,
      error: "The endpoint returned the HTTP status 503.",
      retryAfterMs: 120_000,
    });
  });

  it("does not read an endless response", async () => {
    for (const status of [200, 500]) {
      let written = 0;
      receiver.respond = (response) => {
        response.writeHead(status);
        const chunk = Buffer.alloc(2 ** 16);
        const write = () => {
          while (!response.destroyed) {
            written += chunk.length;
            if (!response.write(chunk)) return void response.once("drain", write);
          }
        };
        write();
      };
      const result = await senderWith().send(receiver.url, event(), secrets, Date.now());
      expect(result.status).to.equal(status);
      // Both sockets' buffers can contain this much data.
      expect(written).to.be.below(2 ** 24);
    }
  });

  it("fails if the endpoint takes too long", async () => {
    const slow: ((socket: Socket) => void)[] = [
      () => undefined,
      (socket) => socket.write("HTTP/1.1 200 OK\r\nX-Slow: "),
      (socket) => {
        const timer = setInterval(() => socket.write("HTTP/1.1 103 Early Hints\r\n\r\n"), 10);
        socket.on("close", () => {
          clearInterval(timer);
        });
      },
    ];
    for (const handler of slow) {
      const server = await serveRaw(handler);
      const url = `http://127.0.0.1:${server.port}/`;
      const result = await senderWith({ timeoutMs: 150 }).send(url, event(), secrets, Date.now());
      expect(result).to.deep.equal({ status: null, error: "The endpoint did not respond in time." });
      await server.close();
    }
  });

  it("accepts a 2xx status even if the body does not end", async () => {
    receiver.respond = (response) => void response.writeHead(200).write("a");
    const result = await senderWith({ timeoutMs: 150 }).send(receiver.url, event(), secrets, Date.now());
    expect(result).to.deep.equal({ status: 200, error: null });
  });

  it("rejects oversized headers and responses that are not HTTP", async () => {
    const upgrade = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n";
    const large = `HTTP/1.1 200 OK\r\nX: ${"x".repeat(2 ** 15)}\r\n\r\n`;
    for (const text of [large, upgrade, "SSH-2.0-OpenSSH\r\n", ""]) {
      const server = await serveRaw((socket) => socket.end(text));
      const url = `http://127.0.0.1:${server.port}/`;
      const result = await senderWith().send(url, event(), secrets, Date.now());
      expect(result.status, text.slice(0, 20)).to.equal(null);
      expect(result.error).to.match(/^The request failed \([A-Z_]+\)\.$/);
      await server.close();
    }
  });

  describe("for private addresses", () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    let port: number;
    let listening: Awaited<ReturnType<typeof listen>>;
    before(async () => {
      listening = await listen(server, { host: "127.0.0.1", port: 0 });
      ({ port } = listening);
    });
    after(() => listening.close());
    const NAMES = { status: null, error: "The host name has an address that is not public." };
    const HOSTS = { status: null, error: "The URL's host is not public, or the URL is not https." };

    it("is rejected before a connection opens", async () => {
      for (const addresses of [["127.0.0.1"], ["93.184.216.34", "127.0.0.1"], ["::ffff:127.0.0.1"], ["::1"]]) {
        const sender = senderWith({ allowPrivate: false, resolve: () => Promise.resolve(addresses) });
        const url = `https://receiver.example:${port}/`;
        expect(await sender.send(url, event(), secrets, Date.now())).to.deep.equal(NAMES);
      }
      const sender = senderWith({ allowPrivate: false });
      for (const url of [`https://127.0.0.1:${port}/`, `https://[::ffff:7f00:1]:${port}/`, `http://a.example:${port}/`])
        expect(await sender.send(url, event(), secrets, Date.now())).to.deep.equal(HOSTS);
      expect(connections).to.equal(0);
    });

    it("is rejected even if the name had a public address before", async () => {
      let asked = 0;
      // An attacker's name server returns a public address for the check and a private address for the connection.
      const resolve = () => Promise.resolve([asked++ % 2 === 0 ? "93.184.216.34" : "127.0.0.1"]);
      const lookup = promisify(checkedLookup(resolve, isPublicAddress)) as (...args: unknown[]) => Promise<unknown>;
      // The connection uses the checked addresses, so the name is resolved only once.
      expect(await lookup("rebinding.example", { all: true })).to.deep.equal([{ address: "93.184.216.34", family: 4 }]);
      expect(asked).to.equal(1);
      const sender = senderWith({ allowPrivate: false, resolve });
      const url = `https://rebinding.example:${port}/`;
      expect(await sender.send(url, event(), secrets, Date.now())).to.deep.equal(NAMES);
      expect([asked, connections]).to.deep.equal([2, 0]);
    });
  });

  it("connects to the address that it checked", async () => {
    const asked: string[] = [];
    const resolve = (hostname: string) => {
      asked.push(hostname);
      // A second lookup would return an unreachable address.
      return Promise.resolve(asked.length === 1 ? ["127.0.0.1"] : ["127.0.0.2"]);
    };
    const url = receiver.url.replace("127.0.0.1", "receiver.example");
    expect(await senderWith({ resolve }).send(url, event(), secrets, Date.now())).to.include({ status: 204 });
    expect(receiver.received[0]?.headers.host).to.equal(new URL(url).host);
    expect(asked).to.deep.equal(["receiver.example"]);
  });

  describe("with a name server", () => {
    const answers: Record<string, { 4: string[]; 6: string[] }> = {};
    let server: Awaited<ReturnType<typeof startNameServer>>;
    before(async () => {
      server = await startNameServer((name, family) => answers[name]?.[family]);
    });
    after(() => server.close());
    const resolve = (hostname: string) => resolvePublicHost(hostname, [server.address]);
    const MAPPED = "0000:0000:0000:0000:0000:ffff:7f00:0001";

    it("checks the addresses of both families", async () => {
      answers["public.example"] = { 4: ["93.184.216.34"], 6: [] };
      expect(await resolve("public.example")).to.deep.equal(["93.184.216.34"]);
      answers["both.example"] = { 4: ["93.184.216.34"], 6: [MAPPED] };
      expect(await resolve("both.example")).to.deep.equal(["93.184.216.34", "::ffff:127.0.0.1"]);
      const sender = senderWith({ allowPrivate: false, resolve });
      const send = (host: string) => sender.send(`https://${host}/`, event(), secrets, Date.now());
      const refused = { status: null, error: "The host name has an address that is not public." };
      expect(await send("both.example")).to.deep.equal(refused);
      answers["private.example"] = { 4: ["169.254.169.254"], 6: [] };
      expect(await send("private.example")).to.deep.equal(refused);
      expect(await send("none.example")).to.deep.equal({ status: null, error: "The host name was not found." });
      answers["empty.example"] = { 4: [], 6: [] };
      expect(await send("empty.example")).to.deep.equal({ status: null, error: "The host name was not found." });
    });
  });

  describe("on a network with DNS64", () => {
    const PREFIX = "0064:ff9b:0000:0000:0000:0000";
    let server: Awaited<ReturnType<typeof startNameServer>>;
    before(async () => {
      const names: Record<string, [ipv4: string, hex: string]> = {
        "public.example": ["93.184.216.34", "5db8:d822"],
        "private.example": ["10.0.0.1", "0a00:0001"],
        // An attacker's name server can return any address of the prefix.
        "forged.example": ["93.184.216.34", "7f00:0001"],
      };
      server = await startNameServer((name, family) => {
        const [ipv4, hex] = names[name] ?? [];
        return ipv4 === undefined ? undefined : [family === 4 ? ipv4 : `${PREFIX}:${hex}`];
      });
    });
    after(() => server.close());
    const resolve = (hostname: string) => resolvePublicHost(hostname, [server.address]);
    const lookup = promisify(checkedLookup(resolve, isPublicAddress)) as (...args: unknown[]) => Promise<unknown>;

    it("reaches a host with a public IPv4 address over IPv4 or the translated address", async () => {
      expect(await lookup("public.example", { all: true })).to.deep.equal([
        { address: "93.184.216.34", family: 4 },
        { address: "64:ff9b::5db8:d822", family: 6 },
      ]);
    });

    it("does not reach a host with a private IPv4 address", async () => {
      for (const host of ["private.example", "forged.example"])
        expect(await failure(lookup(host, { all: true })), host).to.be.instanceOf(AddressRefusedError);
    });
  });

  describe("over TLS", () => {
    const folder = temporaryFolder();
    let server: Awaited<ReturnType<typeof listen>>;
    let ca: string;
    beforeEach(async () => {
      const [key, certificate] = [join(folder.path, "key.pem"), join(folder.path, "certificate.pem")];
      const subject = ["-subj", "/CN=receiver.example", "-addext", "subjectAltName=DNS:receiver.example"];
      const files = ["-keyout", key, "-out", certificate];
      const kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
      execFileSync("openssl", ["req", ...kind, ...files, ...subject], { stdio: "ignore" });
      ca = readFileSync(certificate, "utf8");
      const https = createHttpsServer({ key: readFileSync(key), cert: ca }, (_request, response) => {
        response.writeHead(204).end();
      });
      server = await listen(https, { host: "127.0.0.1", port: 0 });
    });
    afterEach(() => server.close());
    const sendTo = (host: string, options: WebhookSenderOptions) =>
      senderWith({ resolve: () => Promise.resolve(["127.0.0.1"]), ...options }).send(
        `https://${host}:${server.port}/`,
        event(),
        secrets,
        Date.now(),
      );

    it("verifies the certificate and the host name", async () => {
      expect(await sendTo("receiver.example", { ca })).to.deep.equal({ status: 204, error: null });
      const error = "The TLS connection failed. Check the endpoint's certificate.";
      expect(await sendTo("other.example", { ca })).to.deep.equal({ status: null, error });
      expect(await sendTo("receiver.example", {})).to.deep.equal({ status: null, error });
    });
  });
});
