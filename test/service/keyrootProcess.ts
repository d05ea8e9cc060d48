/** The service as a process that test/service/keyroot.ts starts, and configures by its environment. */
import { readConfig } from "../../src/service/config.ts";
import type { Schedule } from "../../src/service/publishing/schedule.ts";
import { startService } from "../../src/service/server.ts";
import { firstOrder } from "./child.ts";

/** What the parent asks for, beside the environment. */
export interface KeyrootOrder {
  /** When to publish; undefined for on command only. */
  schedule?: Schedule | undefined;
}

/** What the parent is told when the service takes requests. */
export interface KeyrootReady {
  origin: string;
}

if (import.meta.main) {
  const { schedule } = await firstOrder<KeyrootOrder>();
  const { url: origin } = await startService(readConfig(process.env), schedule);
  process.send?.({ origin } satisfies KeyrootReady);
}
