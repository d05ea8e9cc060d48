import { endpoints, oneEndpoint, ownNode, pinnedBlock } from "keyroot";
import { auditors } from "keyroot/auditors";
import { lightClient } from "keyroot/light-client";

const CHOICES = { auditors, endpoints, lightClient, oneEndpoint, ownNode, pinnedBlock };

/**
 * Creates a choice of trust from its name and settings, which JSON can contain.
 * @param {readonly unknown[]} trust
 * @returns {import("keyroot").Trust}
 */
export const trustOf = ([name, ...settings]) => CHOICES[name](...settings);
