import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Page } from "playwright-core";

/**
 * Runs the command that a page shows, as a person does who copies it into a shell.
 * @returns the JSON that it prints
 */
export async function runCommand(page: Page, variables: Record<string, string>): Promise<Record<string, unknown>> {
  const command = await page.innerText(".command pre");
  const { stdout } = await promisify(execFile)("bash", ["-c", command], { env: { ...process.env, ...variables } });
  return JSON.parse(stdout) as Record<string, unknown>;
}
