/**
 * The service in a process that `serviceProcess.ts` starts. It is configured by environment variables. With a chain,
 * the process also contains a publisher, like the local stack.
 */
import { readConfig, startService } from "@keyroot/service";
import { readPublisherConfig, type Schedule, startPublisher } from "@keyroot/service/publisher";
import { firstRequest } from "../processes/childProcess.ts";

/** The parent's message. */
export interface StartRequest {
  /** The publishing schedule. Undefined publishes only on request. */
  schedule?: Schedule | undefined;
}

/** The message to the parent when the service accepts requests. */
export interface StartedService {
  origin: string;
}

if (import.meta.main) {
  const { schedule } = await firstRequest<StartRequest>();
  const { url: origin } = await startService(readConfig(process.env));
  if (process.env["KEYROOT_RPC_URL"] !== undefined)
    await startPublisher({ ...readPublisherConfig(process.env), schedule });
  process.send?.({ origin } satisfies StartedService);
}
