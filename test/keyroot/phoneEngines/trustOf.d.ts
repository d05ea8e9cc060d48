import type { Trust } from "keyroot";

export function trustOf(trust: readonly [string, ...unknown[]]): Trust;
