import { expect } from "chai";
import { getAddress } from "ethers/address";
import fc from "fast-check";
import { hasValidChecksum } from "../../../packages/keyroot/src/ethereum/checksum.ts";

describe("hasValidChecksum", () => {
  it("accepts the examples of EIP-55", () => {
    const examples = [
      "0x52908400098527886E0F7030069857D2E4169EE7",
      "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
      "0xde709f2102306220921060314715629080e2fb77",
      "0x27b1fdb04752bbc536007a920d24acb045561c26",
      "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
      "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
      "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
    ];
    for (const example of examples) expect(hasValidChecksum(example), example).to.equal(true);
  });

  it("accepts only the checksum that ethers computes", () => {
    const property = fc.property(fc.stringMatching(/^[0-9a-f]{40}$/), fc.nat(39), (digits, at) => {
      const address = getAddress(`0x${digits}`);
      const letter = address.charAt(at + 2);
      const other = letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase();
      const changed = address.slice(0, at + 2) + other + address.slice(at + 3);
      const isInOneCase = ["toLowerCase", "toUpperCase"].some(
        (method) => changed.slice(2) === changed.slice(2)[method as "toLowerCase"](),
      );
      expect(hasValidChecksum(address)).to.equal(true);
      expect(hasValidChecksum(changed)).to.equal(changed === address || isInOneCase);
    });
    fc.assert(property, { numRuns: 200 });
  });

  it("accepts addresses in upper or lower case", () => {
    expect(hasValidChecksum(`0x${"ab".repeat(20)}`)).to.equal(true);
    expect(hasValidChecksum(`0x${"AB".repeat(20)}`)).to.equal(true);
  });
});
