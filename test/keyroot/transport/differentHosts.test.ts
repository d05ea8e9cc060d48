import { expect } from "chai";
import { nodeOf } from "../../../packages/keyroot/src/transport/differentHosts.ts";
import { LOCAL_HOSTS } from "../../support/localHosts.ts";

describe("nodeOf", () => {
  it("returns the same name for all names of this machine", () => {
    for (const host of [...LOCAL_HOSTS, "0.0.0.0", "[::]", "[::ffff:0.0.0.0]"])
      expect(nodeOf(`http://${host}:8545/path?key`), host).to.equal("localhost:8545");
  });

  it("returns different names for different ports of this machine", () => {
    expect(nodeOf("http://localhost:8546")).to.equal("localhost:8546");
    expect(nodeOf("http://localhost")).to.equal(nodeOf("https://127.0.0.1:80"));
    expect(nodeOf("https://localhost")).to.equal(nodeOf("http://[::1]:443"));
    expect(nodeOf("https://localhost")).to.not.equal(nodeOf("http://localhost"));
  });

  it("returns the same name for all spellings of another host", () => {
    const spellings = ["https://a.example", "http://a.example:1", "https://A.Example./x", "https://a.example:8443?k#f"];
    expect(new Set(spellings.map(nodeOf))).to.deep.equal(new Set(["a.example"]));
    const addresses = ["https://192.0.2.1", "https://3221225985:1", "https://[::ffff:192.0.2.1]", "https://0xc0.0.2.1"];
    expect(new Set(addresses.map(nodeOf))).to.deep.equal(new Set(["192.0.2.1"]));
  });

  it("returns the IPv4 address that an IPv6 address contains", () => {
    const forms = (ipv4: string, sixToFour: string) =>
      ["::ffff:", "::ffff:0:", "64:ff9b::", "::"].map((prefix) => prefix + ipv4).concat(sixToFour);
    const addresses = {
      "192.0.2.1": forms("192.0.2.1", "2002:c000:201::5"),
      "10.0.0.0": forms("10.0.0.0", "2002:a00::"),
      "1.0.0.2": forms("1.0.0.2", "2002:100:2:0:1::"),
      "localhost:443": forms("127.0.0.1", "2002:7f00:1::1"),
    };
    for (const [name, forms] of Object.entries(addresses))
      for (const form of forms) expect(nodeOf(`https://[${form}]`), form).to.equal(name);
    for (const other of ["2001:db8::c000:201", "64:ff9b:1::c000:201", "::fffe:c000:201", "1:2:3:4:5:6:c000:201"])
      expect(nodeOf(`https://[${other}]`)).to.equal(`[${other}]`);
  });
});
