import { styleText } from "node:util";

const FORMATS = {
  heading: "bold",
  success: "green",
  failure: "red",
  alarm: ["bold", "red"],
  notice: "yellow",
  dim: "dim",
} as const;

/**
 * Colors text for a terminal. Other streams get it plain, and so do terminals where NO_COLOR is set; FORCE_COLOR colors
 * it everywhere.
 */
export function style(kind: keyof typeof FORMATS, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  const format = FORMATS[kind];
  return styleText(typeof format === "string" ? format : [...format], text, { stream });
}
