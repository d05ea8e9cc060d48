import { DeliveryWorker } from "../../../packages/service/src/webhooks/deliveryWorker.ts";
import type { TestService } from "./support.ts";

/** A worker that sends the webhooks of a service. */
export function workerOf({ context }: TestService): DeliveryWorker {
  const { webhookEndpoints: endpoints, webhookDeliveries: deliveries, webhookSender: sender, now } = context;
  return new DeliveryWorker({ endpoints, deliveries, sender, now });
}

/** Dispatches all events, and sends everything that is due. */
export async function deliver(service: TestService): Promise<void> {
  const worker = workerOf(service);
  while (await worker.poll());
  await worker.idle();
}
