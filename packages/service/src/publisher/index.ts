/** The process that publishes registered keys, with the key of the registry's owner. */
export type { ChainConfig, ChainOptions, PublisherConfig, Schedule } from "../config/publisherConfig.ts";
export { readPublisherConfig } from "../config/readConfig.ts";
export { KeyPublisher } from "./keyPublisher.ts";
export { type RunningPublisher, startPublisher, type StartPublisherOptions } from "./startPublisher.ts";
