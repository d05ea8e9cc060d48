import { expect } from "chai";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { TransportError } from "keyroot/internal/errors";
import { listen } from "../../../packages/operator/src/http/listen.ts";
import { closedAfterEach, closeOf, failure, freePort, hold, portOf } from "../../support/support.ts";

const host = "127.0.0.1";

describe("an HTTP server", () => {
  const closing = closedAfterEach();
  const listenAt = async (port: number) => closing(await listen(createServer(), { host, port }));

  describe("listen", () => {
    it("uses the requested port", async () => {
      const port = await freePort();
      expect(await listenAt(port)).to.include({ port, url: `http://127.0.0.1:${port}` });
    });

    it("uses any free port if the port is 0", async () => {
      expect((await listenAt(0)).port).to.be.within(1, 65_535);
    });

    it("uses a higher port if the requested port is in use", async () => {
      const taken = portOf(closing(await hold(0)));
      expect((await listenAt(taken)).port).to.be.within(taken + 1, taken + 63);
    });

    it("gives different ports to two servers that start at the same time", async () => {
      const port = await freePort();
      const [one, other] = await Promise.all([listenAt(port), listenAt(port)]);
      expect(one.port).to.not.equal(other.port);
    });

    it("fails if no higher port exists", async () => {
      await hold(65_535).then(closing, () => undefined);
      const error = await failure(listenAt(65_535));
      expect(error).to.include({ name: "TransportError", code: "PORT_UNAVAILABLE" });
      expect(error).to.have.property("message").that.includes("--port");
    });

    it("fails for the address of another machine", async () => {
      const error = await failure(listen(createServer(), { host: "203.0.113.1", port: 0 }));
      expect(error).to.be.an.instanceof(TransportError).with.property("code", "PORT_UNAVAILABLE");
    });

    for (const port of [-1, 65_536, 1.5, NaN]) {
      it(`rejects ${port} as a port`, async () => {
        expect(await failure(listenAt(port))).to.include({ name: "ArgumentError", code: "ARGUMENT_INVALID" });
      });
    }
  });

  describe("close", () => {
    it("closes open connections, and frees the port", async () => {
      const listening = await listen(createServer(), { host, port: 0 });
      const client = connect(listening.port, host).resume();
      await once(client, "connect");
      await Promise.all([closeOf(client), listening.close()]);
      expect((await listenAt(listening.port)).port).to.equal(listening.port);
    });
  });
});
