import { expect } from "chai";
import { startPublisher } from "../../../packages/service/src/publisher/startPublisher.ts";
import { startService } from "../../../packages/service/src/serve/startService.ts";
import { requireKeyType } from "../../../packages/service/src/publishing/registryKeyType.ts";
import { registries } from "../../../packages/service/src/publishing/tables.ts";
import { ADMIN_TOKEN, describeOnEachDatabase, freshDatabases } from "../../support/service/support.ts";
import { failure } from "../../support/support.ts";

describeOnEachDatabase("the key type of a database", (service) => {
  beforeEach(() => service.databases.home.delete(registries));

  it("is the type of the first service or publisher, and others with another type do not start", async () => {
    await using databases = await freshDatabases();
    const ports = { port: 0, monitoringPort: null, databaseFolder: null, logLevel: "error" } as const;
    const running = await startService({ ...ports, databases, adminToken: ADMIN_TOKEN, keyType: "x25519" });
    await running.close();

    const files = { "us-west-2": "files", "eu-west-1": "files" };
    const chain = { rpcUrl: "http://127.0.0.1:1", chainId: 31337, contract: `0x${"11".repeat(20)}`, files };
    const starts = [
      () => startPublisher({ databases, chain, logLevel: "error", keyType: "ed25519" }),
      () => startPublisher({ databases, chain, logLevel: "error" }),
      () => startService({ ...ports, databases, adminToken: ADMIN_TOKEN, keyType: "p256" }),
    ];
    for (const [i, type] of ["ed25519", "curve41417", "p256"].entries()) {
      const error = await failure(starts[i]?.() ?? Promise.resolve());
      expect(error).to.have.property("code", "CONFIGURATION_INVALID");
      expect((error as Error).message).to.match(
        new RegExp(`registry with x25519 keys, but KEYROOT_KEY_TYPE is ${type}. Set KEYROOT_KEY_TYPE=x25519`),
      );
    }
    await requireKeyType(databases, "x25519");
  });

  it("is one type if several replicas start at the same time", async () => {
    const types = ["x25519", "ed25519", "x25519", "ed25519", "p256"] as const;
    const results = await Promise.allSettled(types.map((type) => requireKeyType(service.databases, type)));
    const accepted = new Set(types.filter((_, i) => results[i]?.status === "fulfilled"));
    expect(accepted.size).to.equal(1);
  });
});
