import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const SOURCES = join(import.meta.dirname, "../../../packages/operator/src/service/dashboard");

interface DashboardCall {
  path: string;
  access: string;
  staff: string;
  verified: boolean;
}

/** Every call of the dashboard, with who may call it. New calls are covered by the tests automatically. */
export const DASHBOARD_CALLS: readonly DashboardCall[] = readdirSync(SOURCES).flatMap((file) => {
  const source = readFileSync(join(SOURCES, file), "utf8");
  const found = source.matchAll(
    /path: "([^"]+)",\n\s+access: "(\w+)",(?:\n\s+staff: "(\w+)",)?(\n\s+verified: true)?/g,
  );
  return [...found].map(([, path = "", access = "", staff = "partner", verified]) => ({
    ...{ path, access, staff, verified: verified !== undefined },
  }));
});
