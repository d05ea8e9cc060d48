import { expect } from "chai";
import { isLoopback } from "../../../packages/keyroot/src/transport/url.ts";
import { LOCAL_HOSTS } from "../../support/localHosts.ts";

const ELSEWHERE = [
  ...["localhost.example", "notlocalhost", "127.0.0.1.example", "127.example", "128.0.0.1", "10.0.0.1"],
  ...["[64:ff9b::127.0.0.1]", "[::127.0.0.1]", "[2002:7f00:1::]", "[::ffff:0:127.0.0.1]"],
  ...["[::2]", "[::ffff:128.0.0.1]", "[::ffff:10.0.0.1]", "[fe80::1]", "example.com"],
];
const hostnameOf = (host: string) => new URL(`http://${host}`).hostname;

describe("isLoopback", () => {
  it("returns true for all names and addresses of this machine", () => {
    for (const host of LOCAL_HOSTS) expect(isLoopback(hostnameOf(host)), host).to.equal(true);
  });

  it("returns false for every other host", () => {
    for (const host of [...ELSEWHERE, "0.0.0.0", "[::]"]) expect(isLoopback(hostnameOf(host)), host).to.equal(false);
  });
});
