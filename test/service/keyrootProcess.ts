/** The service as a process that test/service/keyroot.ts starts, and configures by its environment. */
import { readConfig } from "../../src/service/config.ts";
import { startService } from "../../src/service/server.ts";
import { firstOrder } from "./child.ts";

/** What the parent is told when the service takes requests. */
export interface KeyrootReady {
  origin: string;
}

if (import.meta.main) {
  await firstOrder();
  const { url: origin } = await startService(readConfig(process.env));
  process.send?.({ origin } satisfies KeyrootReady);
}
