import { expect } from "chai";
import { parseUrl } from "../../../packages/keyroot/src/engine/parseUrl.ts";
import { checkUrl } from "keyroot/internal/transport";
import { addPath } from "../../../packages/keyroot/src/transport/url.ts";
import { withoutGlobals } from "../../support/withoutGlobals.ts";

const PLAIN = [
  ...["https://files.example", "http://localhost:8545/", "https://a-b.c_d.example:8443/x/y.json?key=v%20w&z"],
  ...["http://127.0.0.1:8545/v3", "https://xn--bcher-kva.example/?q"],
];
const NOT_PLAIN = [
  ...["", "words", "ftp://files.example", "https://", "https:///x", "https://A.example", "https://user@a.example"],
  ...["https://a.example\\@b.example", "https://a.example/@b\\c", "https://127.1", "https://0x7f.0.0.1"],
  ...["https://127.00.0.1", "https://2130706433", "https://[::1]", "https://a.example#part", "https://bücher.example"],
  ...["https://a.example:", "https://a.example:x", " https://a.example", "https://a.example/ x", "https://a..example"],
  "https://a.example\n",
];
const PARTS = ["href", "protocol", "host", "hostname", "port"] as const;

/** A class like React Native's own URL class. It accepts any text, and does not normalize the text. */
class LooseURL {
  readonly href: string;
  readonly hostname = "localhost";
  constructor(url: string) {
    this.href = url;
  }
  get host(): string {
    return this.href.split("/")[2] ?? "";
  }
}

for (const [platform, URL] of [
  ["without URL", undefined],
  ["with React Native's URL", LooseURL],
] as const) {
  describe(`parseUrl on a platform ${platform}`, () => {
    it("parses plain URLs according to the URL standard", async () => {
      for (const url of PLAIN) {
        const expected = parseUrl(url);
        await withoutGlobals({ URL }, () => {
          const parsed = parseUrl(url);
          for (const part of PARTS) expect(parsed[part], `${part} of ${url}`).to.equal(expected[part]);
          expect(checkUrl("rpc", url)).to.equal(url);
        });
      }
    });

    it("rejects every other text, and does not quote the text", async () => {
      await withoutGlobals({ URL }, () => {
        for (const url of NOT_PLAIN) {
          expect(() => parseUrl(url), url)
            .to.throw()
            .include({ code: "ARGUMENT_INVALID", message: "The text is not a URL." });
        }
      });
    });
  });
}

describe("addPath", () => {
  it("adds a path and a query to a URL", () => {
    expect(addPath("https://a.example", "x.json")).to.equal("https://a.example/x.json");
    expect(addPath("https://a.example/b//?key=1#part", "x.json")).to.equal("https://a.example/b/x.json?key=1");
    expect(addPath("https://a.example/b?key=1", "x?count=2")).to.equal("https://a.example/b/x?count=2&key=1");
    expect(addPath("https://a.example/", "x?count=2")).to.equal("https://a.example/x?count=2");
  });
});
