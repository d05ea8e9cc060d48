import { expect } from "chai";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { startFileHost, type FileHost } from "../../../packages/service/src/stack/fileHost.ts";
import { closedAfterEach, closeOf, failure, sendRaw, temporaryFolder } from "../../support/support.ts";

const ROOT = "0123456789abcdef".repeat(4);
const OTHER_ROOT = "fedcba9876543210".repeat(4);
const USER = "ybndrfg8ejkmcpqxot1uwisza345h769";
const CONTENT = '{"merkle":{},"values":["zß水🍋"],"lookup":{}}';
/** More bytes than all buffers between the host and a reader can contain. */
const LARGE = 2 ** 27;

describe("the file host", () => {
  const folder = temporaryFolder();
  const closing = closedAfterEach();
  const pathOf = (root: string) => join(folder.path, `${root}.json`);
  let host: FileHost;
  let url: string;

  beforeEach(async () => {
    await writeFile(pathOf(ROOT), CONTENT);
    host = closing(await startFileHost({ dir: folder.path, port: 0 }));
    url = `${host.url}/${ROOT}.json`;
  });

  const send = (method: string, target: string, header = "") =>
    sendRaw(host.url, `${method} ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${header}\r\n`);

  describe("GET", () => {
    it("returns the bytes of the file", async () => {
      const response = await fetch(url);
      expect(response.status).to.equal(200);
      expect(await response.text()).to.equal(CONTENT);
    });

    it("declares the file's type, length and permanence", async () => {
      const { headers } = await fetch(url);
      expect(headers.get("content-type")).to.equal("application/json");
      expect(headers.get("content-length")).to.equal(String(Buffer.byteLength(CONTENT)));
      expect(headers.get("cache-control")).to.equal("public, max-age=31536000, immutable");
      expect(headers.get("etag")).to.equal(`"${ROOT}"`);
      expect(headers.get("x-content-type-options")).to.equal("nosniff");
      expect(headers.get("access-control-allow-origin")).to.equal("*");
    });

    it("returns the compressed copy only to clients that accept Brotli", async () => {
      await writeFile(`${pathOf(ROOT)}.br`, brotliCompressSync(CONTENT));
      for (const [accepted, encoding] of [
        ["gzip, br", "br"],
        ["gzip, brx", null],
        ["identity", null],
      ] as const) {
        const response = await fetch(url, { headers: { "Accept-Encoding": accepted } });
        expect(response.headers.get("content-encoding"), accepted).to.equal(encoding);
        expect(response.headers.get("etag")).to.equal(encoding ? `"${ROOT}.json.br"` : `"${ROOT}"`);
        expect(response.headers.get("vary")).to.equal("Accept-Encoding");
        expect(await response.text()).to.equal(CONTENT);
      }
    });

    it("returns a file that was added later, even an empty one", async () => {
      for (const content of ["{}", ""]) {
        await writeFile(pathOf(OTHER_ROOT), content);
        const response = await fetch(`${host.url}/${OTHER_ROOT}.json`);
        expect([response.status, await response.text()]).to.deep.equal([200, content]);
      }
    });

    it("streams a large file", async () => {
      await truncate(pathOf(ROOT), LARGE);
      let bytes = 0;
      for await (const chunk of (await fetch(url)).body ?? []) bytes += chunk.byteLength;
      expect(bytes).to.equal(LARGE);
    });

    it("breaks the connection if the file ends too early", async () => {
      await truncate(pathOf(ROOT), LARGE);
      const response = await fetch(url);
      await truncate(pathOf(ROOT), 0);
      expect(await failure(response.arrayBuffer())).to.be.an.instanceof(TypeError);
    });

    it("keeps running if a client disconnects", async () => {
      await truncate(pathOf(ROOT), LARGE);
      await (await fetch(url)).body?.cancel();
      expect((await fetch(url, { method: "HEAD" })).status).to.equal(200);
    });
  });

  describe("a user's proof and bundle", () => {
    const proof = `${ROOT}/${USER}.json`;
    const bundle = `${ROOT}/${USER}.bundle.json`;
    beforeEach(async () => {
      await mkdir(join(folder.path, ROOT));
      await writeFile(join(folder.path, proof), "{}");
      await writeFile(join(folder.path, bundle), "[]");
    });

    it("are served beside the file, to every web page", async () => {
      for (const [path, content] of [
        [proof, "{}"],
        [bundle, "[]"],
        [`${ROOT}.json`, CONTENT],
      ] as const) {
        const response = await fetch(`${host.url}/${path}`);
        expect([response.status, await response.text()]).to.deep.equal([200, content]);
        expect(response.headers.get("content-type")).to.equal("application/json");
        expect(response.headers.get("access-control-allow-origin")).to.equal("*");
      }
    });

    it("have headers that cache the proof permanently and revalidate the bundle", async () => {
      const [kept, asked] = [await fetch(`${host.url}/${proof}`), await fetch(`${host.url}/${bundle}`)];
      expect(kept.headers.get("cache-control")).to.equal("public, max-age=31536000, immutable");
      expect(kept.headers.get("etag")).to.equal(`"${ROOT}/${USER}"`);
      expect(asked.headers.get("cache-control")).to.equal("no-cache");
      expect(asked.headers.get("etag")).to.equal(null);
    });

    it("get 304 for a cached proof, but 200 for a cached bundle", async () => {
      const ask = async (path: string, tags: string) =>
        (await fetch(`${host.url}/${path}`, { headers: { "If-None-Match": tags }, cache: "no-store" })).status;
      expect(await ask(proof, `"${ROOT}/${USER}"`)).to.equal(304);
      expect(await ask(proof, `"${ROOT}"`)).to.equal(200);
      expect(await ask(bundle, `"${ROOT}/${USER}"`)).to.equal(200);
    });

    it("are not served through a link", async () => {
      await symlink(join(folder.path, ROOT), join(folder.path, OTHER_ROOT));
      expect((await fetch(`${host.url}/${OTHER_ROOT}/${USER}.json`)).status).to.equal(404);
      await symlink(join(folder.path, proof), join(folder.path, ROOT, `${USER.replace("y", "b")}.json`));
      expect((await fetch(`${host.url}/${ROOT}/${USER.replace("y", "b")}.json`)).status).to.equal(404);
      await writeFile(join(folder.path, OTHER_ROOT.replace("f", "e")), "");
      expect((await fetch(`${host.url}/${OTHER_ROOT.replace("f", "e")}/${USER}.json`)).status).to.equal(404);
    });
  });

  describe("HEAD", () => {
    it("returns the headers of GET without a body", async () => {
      const answer = await send("HEAD", `/${ROOT}.json`);
      expect(answer).to.match(/^HTTP\/1\.1 200 OK\r\n/);
      expect(answer).to.include(`Content-Length: ${Buffer.byteLength(CONTENT)}\r\n`);
      expect(answer).to.match(/\r\n\r\n$/);
    });

    it("returns no body if the file does not exist", async () => {
      expect(await send("HEAD", `/${OTHER_ROOT}.json`)).to.match(/^HTTP\/1\.1 404 [^]*\r\n\r\n$/);
    });
  });

  describe("a GET request with If-None-Match", () => {
    const ask = (tags: string, root = ROOT) =>
      fetch(`${host.url}/${root}.json`, { headers: { "If-None-Match": tags }, cache: "no-store" });

    for (const tags of [`"${ROOT}"`, `W/"${ROOT}"`, `"x", "${ROOT}"`, "*"]) {
      it(`gets 304 without a body for the value ${tags.replaceAll(ROOT, "<root>")}`, async () => {
        const response = await ask(tags);
        expect(response.status).to.equal(304);
        expect(response.headers.get("etag")).to.equal(`"${ROOT}"`);
        expect(await response.text()).to.equal("");
      });
    }

    for (const tags of [`"${OTHER_ROOT}"`, ROOT, '""']) {
      it(`gets the file for the value ${tags.replaceAll(ROOT, "<root>").replaceAll(OTHER_ROOT, "<other root>")}`, async () => {
        expect(await (await ask(tags)).text()).to.equal(CONTENT);
      });
    }

    it("gets 404 if the file does not exist", async () => {
      expect((await ask("*", OTHER_ROOT)).status).to.equal(404);
    });
  });

  describe("OPTIONS", () => {
    it("allows web pages of any origin to read", async () => {
      const { status, headers } = await fetch(url, { method: "OPTIONS" });
      expect(status).to.equal(204);
      expect(headers.get("access-control-allow-origin")).to.equal("*");
      expect(headers.get("access-control-allow-methods")).to.equal("GET, HEAD");
      expect(headers.get("access-control-allow-headers")).to.equal("*");
    });
  });

  describe("other methods", () => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "PROPFIND"]) {
      it(`get 405 with the allowed methods for ${method}`, async () => {
        const response = await fetch(url, { method });
        expect(response.status).to.equal(405);
        expect(response.headers.get("allow")).to.equal("GET, HEAD, OPTIONS");
        expect(response.headers.get("cache-control")).to.equal("no-store");
      });
    }
  });

  describe("other paths", () => {
    const targets = {
      "the folder": "/",
      "an absent root": `/${OTHER_ROOT}.json`,
      "a root without .json": `/${ROOT}`,
      "a root in upper case": `/${ROOT.toUpperCase()}.json`,
      "a root with 0x": `/0x${ROOT}.json`,
      "a shorter root": `/${ROOT.slice(1)}.json`,
      "a longer root": `/${ROOT}0.json`,
      "a query": `/${ROOT}.json?`,
      "a fragment": `/${ROOT}.json#x`,
      "a slash at the end": `/${ROOT}.json/`,
      "two slashes": `//${ROOT}.json`,
      "only slashes": "//",
      "a dot segment": `/./${ROOT}.json`,
      "a way up": "/../x",
      "a way up and back": `/x/../${ROOT}.json`,
      "an encoded way up": "/%2e%2e%2fx",
      "an encoded character": `/%30${ROOT.slice(1)}.json`,
      "an encoded zero byte": `/${ROOT}.json%00`,
      "a backslash": `/..\\${ROOT}.json`,
      "a whole URL": `http://localhost/${ROOT}.json`,
      "an asterisk": "*",
      "an absent proof": `/${ROOT}/${USER}.json`,
      "an absent bundle": `/${OTHER_ROOT}/${USER}.bundle.json`,
      "the folder of a root": `/${ROOT}/`,
      "an invalid user id": `/${ROOT}/${USER.replace("y", "l")}.json`,
      "a user in upper case": `/${ROOT}/${USER.toUpperCase()}.json`,
      "a shorter user": `/${ROOT}/${USER.slice(1)}.json`,
      "a user without .json": `/${ROOT}/${USER}`,
      "a user without a root": `/${USER}.json`,
      "the bundle of a root": `/${ROOT}.bundle.json`,
      "a draft": `/${ROOT}/.${USER}.json`,
      "something else of a user": `/${ROOT}/${USER}.json.json`,
      "a way up from a root": `/${ROOT}/../${ROOT}.json`,
    };
    for (const [name, target] of Object.entries(targets)) {
      it(`get an uncached 404 for ${name}`, async () => {
        const answer = await send("GET", target);
        expect(answer).to.match(/^HTTP\/1\.1 404 Not Found\r\n/);
        expect(answer).to.include("Cache-Control: no-store\r\n");
        expect(answer).to.match(/\r\n\r\nNot Found\n$/);
      });
    }

    it("get 404 for every method", async () => {
      expect((await fetch(`${host.url}/x`, { method: "POST", body: "x" })).status).to.equal(404);
    });

    it("allow web pages to read the error", async () => {
      expect((await fetch(`${host.url}/x`)).headers.get("access-control-allow-origin")).to.equal("*");
    });
  });

  describe("a path that is not a regular file", () => {
    it("is not followed if it is a symbolic link", async () => {
      await symlink(pathOf(ROOT), pathOf(OTHER_ROOT));
      expect((await fetch(`${host.url}/${OTHER_ROOT}.json`)).status).to.equal(404);
    });

    it("is not served if it is a folder", async () => {
      await mkdir(pathOf(OTHER_ROOT));
      expect((await fetch(`${host.url}/${OTHER_ROOT}.json`)).status).to.equal(404);
    });

    it("does not wait for the other end of a named pipe", async function () {
      // Windows has no named pipes in folders.
      if (process.platform === "win32") this.skip();
      execFileSync("mkfifo", [pathOf(OTHER_ROOT)]);
      expect((await fetch(`${host.url}/${OTHER_ROOT}.json`)).status).to.equal(404);
    });

    it("reveals no details if the folder cannot be read", async () => {
      const broken = closing(await startFileHost({ dir: pathOf(ROOT), port: 0 }));
      const response = await fetch(`${broken.url}/${ROOT}.json`);
      expect([response.status, await response.text()]).to.deep.equal([500, "Internal Server Error\n"]);
      expect(response.headers.get("cache-control")).to.equal("no-store");
    });
  });

  describe("a request that is not HTTP", () => {
    it("is rejected", async () => {
      expect(await sendRaw(host.url, "nonsense\r\n\r\n")).to.match(/^HTTP\/1\.1 400 Bad Request\r\n/);
    });
  });

  describe("close", () => {
    it("ends an idle connection immediately", async () => {
      const { hostname, port } = new URL(host.url);
      const client = connect(Number(port), hostname);
      client.write(`HEAD /${ROOT}.json HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      await once(client, "data");
      await Promise.all([closeOf(client), host.close()]);
    });

    it("ends a download immediately", async () => {
      await truncate(pathOf(ROOT), LARGE);
      const response = await fetch(url);
      await host.close();
      expect(await failure(response.arrayBuffer())).to.be.an.instanceof(TypeError);
    });
  });
});
