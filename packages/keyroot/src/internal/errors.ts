export * from "../errors.ts";
